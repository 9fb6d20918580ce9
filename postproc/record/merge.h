/* SPDX-License-Identifier: MIT */
/*
 * Records of several CPUs, merged by time.
 *
 * Each CPU has a queue kept in order of time; records come nearly sorted (the clock that perf reads
 * may step back by nanoseconds when the kernel adjusts it), so an insertion moves little.  What is
 * older than a horizon, before which no ring can still hold a record, leaves in order.
 */
#ifndef PP_RECORD_MERGE_H
#define PP_RECORD_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "record/ctf/kevent.h"

struct pp_queue {
	struct pp_kevent *events;
	size_t first, end, room;
};

struct pp_merge {
	struct pp_queue *queues;
	unsigned n_queues;
	unsigned *heap; /* numbers of non-empty queues, the oldest first event on top */
	unsigned n_heap;
};

void pp_merge_init(struct pp_merge *merge, unsigned n_queues);
void pp_merge_done(struct pp_merge *merge);

/* Takes over event->filename. */
void pp_merge_add(struct pp_merge *merge, unsigned queue, const struct pp_kevent *event);

/* Hands on, in order of time, what is older than horizon_ns. */
void pp_merge_emit(struct pp_merge *merge, uint64_t horizon_ns,
		   void (*emit)(void *data, unsigned queue, struct pp_kevent *event), void *data);

#endif
