/* SPDX-License-Identifier: MIT */
/* Writes the CTF metadata of this process' events. */
#include "runtime/stream/metadata.h"

#include <errno.h>

#include "runtime/files/file.h"
#include "runtime/process/process.h"

int gm_metadata_write(const char *dir, const uint8_t uuid[16], const struct gm_event_class *events,
		      unsigned n_events)
{
	const struct gm_process *process = gm_process_get();
	char *buffer = gm_sys_mmap(GM_METADATA_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *path = gm_path_new(dir, "metadata");
	struct gm_text text = {buffer, GM_METADATA_BYTES, 0};
	int code = -ENOMEM;

	if (buffer != NULL && path != NULL && process != NULL) {
		const struct gm_metadata metadata = {
		    .uuid = uuid,
		    .pid = (uint64_t)process->pid,
		    .clock_uuid = process->capture.clock_uuid,
		    .clock_offset_ns = process->capture.clock_offset_ns,
		    .events = events,
		    .n_events = n_events,
		};

		gm_metadata_add(&text, &metadata);
		code = text.length < text.size_bytes ? gm_file_write(path, buffer, text.length)
						     : -ENAMETOOLONG;
	}
	if (buffer != NULL)
		gm_sys_munmap(buffer, GM_METADATA_BYTES);
	gm_path_free(path);
	return code;
}
