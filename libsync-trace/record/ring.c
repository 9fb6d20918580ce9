/* SPDX-License-Identifier: MIT */
/*
 * A stream of which only the newest files are kept ([output] ring; runtime/stream/stream_ring.c).
 *
 * Each file is readable without those before it. When a stream begins a file, its writer forgets
 * what it has defined: the next event from a site defines it again, with the number it had, and
 * paths get nodes with new numbers. A wait does not begin in one file and end in the next: its
 * begin is only written where its end and call path have room, too.
 */
#include <stddef.h>

#include "record/internal.h"
#include "runtime/config/config.h"
#include "runtime/process/process.h"

bool st_rings;

static void file_begins(struct gm_stream *stream)
{
	struct st_thread *self =
	    (struct st_thread *)((char *)stream - offsetof(struct st_thread, stream));

	if (stream->n_segments == 1)
		return;
	st_sites_arm(self);
	gm_nodes_forget(&self->paths);
	self->end_path = 0;
	/* No thread has executed so many: the next event has them again. */
	if (self->conditionals != 0)
		self->conditionals = UINT64_MAX;
}

void st_ring_open(struct gm_trace *trace)
{
	bool rings = gm_config_has_ring(&gm_process_get()->config);

	if (st_rings != rings)
		st_rings = rings;
	trace->is_ring = rings;
	trace->file_begins = rings ? file_begins : NULL;
	if (rings)
		gm_process_set_sync_objects(GM_SYNC_RING);
}
