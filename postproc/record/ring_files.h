/* SPDX-License-Identifier: MIT */
/*
 * Keeps the streams of a ring ([output] ring) at its size or time, beside the programs: removes the
 * oldest files of all streams.  The programs stay within the limit by themselves, but each removes
 * only its own thread's files (libgmon-mt/runtime/stream/stream_ring.c), so without this the files
 * of a thread that waits would stay, and others would have less.
 *
 * Runs in a thread of its own.  If it is killed with `record`, the limit still holds.
 */
#ifndef PP_RECORD_RING_FILES_H
#define PP_RECORD_RING_FILES_H

#include <glib.h>

#include "runtime/config/config.h"

struct pp_ring_files {
	int dir_fd;
	uint64_t most_bytes, ring_ns;
	uint64_t *used;	 /* the file `used`, mapped; NULL: not available */
	GThread *thread; /* NULL: there is no ring */
	GMutex lock;	 /* protects is_over */
	GCond over;
	bool is_over;
};

/* dir_fd: the capture. */
void pp_ring_files_begin(struct pp_ring_files *files, int dir_fd, const struct gm_config *config);
void pp_ring_files_end(struct pp_ring_files *files);

#endif
