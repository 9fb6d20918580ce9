/* SPDX-License-Identifier: MIT */
/*
 * The header has no start time of the process in /proc: that would tell others that the capture is
 * written to as long as the process runs.  The recorder's lock tells it.
 */
#include "record/attach/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/write.h"
#include "gmon-mt/format.h"
#include "record/attach/maps.h"
#include "runtime/capture/in_use.h"

static struct gm_threads_header header_of(const struct pp_target *target,
					  const struct pp_target_threads *threads, int64_t begin_ns)
{
	struct gm_threads_header header = {
	    .schema = GM_CAPTURE_SCHEMA,
	    .header_bytes = sizeof(header),
	    .slot_bytes = sizeof(struct gm_thread_slot),
	    .n_slots = threads->found->len,
	    .pid = (uint32_t)target->pid,
	    .ppid = (uint32_t)target->ppid,
	    .start_ns = (uint64_t)begin_ns,
	    .sample_state = GM_SAMPLE_UNASKED,
	    .pid_namespace = gm_in_use_namespace(),
	};

	memcpy(header.magic, GM_THREADS_MAGIC, sizeof(header.magic));
	return header;
}

static int write_threads(int fd, const struct gm_threads_header *header,
			 const struct pp_target_threads *threads)
{
	int rc = pp_write_all(fd, header, sizeof(*header));

	for (guint i = 0; i < threads->found->len && rc == 0; i++) {
		const struct pp_target_thread *thread =
		    &g_array_index(threads->found, struct pp_target_thread, i);
		struct gm_thread_slot slot = {
		    .state = GM_THREAD_LIVE,
		    .tid = (uint32_t)thread->tid,
		    .parent_index = -1,
		    .start_ns = (uint64_t)thread->start_ns,
		};

		memcpy(slot.name, thread->name, sizeof(slot.name));
		rc = pp_write_all(fd, &slot, sizeof(slot));
	}
	return rc;
}

static int create(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

static int write_maps(int dir_fd, const GString *text)
{
	int fd = create(dir_fd, "maps");
	int rc = fd < 0 ? fd : pp_write_all(fd, text->str, text->len);

	if (fd >= 0)
		close(fd);
	return rc;
}

int pp_target_folder_write(struct pp_target_folder *folder, int dir_fd,
			   const struct pp_target *target, const struct pp_target_threads *threads,
			   int64_t begin_ns, struct pp_error *err)
{
	struct gm_threads_header header = header_of(target, threads, begin_ns);
	g_autofree char *name = g_strdup_printf("%d", target->pid);
	g_autofree char *temporary = g_strdup_printf(".new.%d", target->pid);
	g_autoptr(GString) maps = g_string_new(NULL);
	int fd = -1, rc;

	*folder = (struct pp_target_folder){.threads_fd = -1};
	folder->n_unknown = pp_target_maps_add(target->pid, begin_ns, maps);
	rc = mkdirat(dir_fd, temporary, 0700) ? -errno : 0;
	if (rc == 0) {
		fd = openat(dir_fd, temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rc = fd < 0 ? -errno : write_maps(fd, maps);
	}
	if (rc == 0) {
		folder->threads_fd = create(fd, "threads");
		rc = folder->threads_fd < 0 ? folder->threads_fd
					    : write_threads(folder->threads_fd, &header, threads);
	}
	if (fd >= 0)
		close(fd);
	/* Readers find it complete, or not at all. */
	if (rc == 0 && renameat(dir_fd, temporary, dir_fd, name))
		rc = -errno;
	return rc ? pp_error_add(err, rc, "%s/: %s", name, g_strerror(-rc)) : 0;
}

void pp_target_folder_end(struct pp_target_folder *folder, int64_t end_ns)
{
	const uint64_t end = (uint64_t)end_ns;

	if (folder->threads_fd < 0)
		return;
	/* If it cannot be written, the last event tells the end. */
	(void)pp_write_all_at(folder->threads_fd, &end, sizeof(end),
			      offsetof(struct gm_threads_header, end_ns));
	close(folder->threads_fd);
	folder->threads_fd = -1;
}
