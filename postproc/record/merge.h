/* SPDX-License-Identifier: MIT */
/*
 * Merges the records of several CPUs by time.
 *
 * Each CPU has a queue in time order.  Records arrive nearly sorted (the clock that perf reads may
 * step back by nanoseconds when the kernel adjusts it), so an insertion moves few records.  Records
 * older than a horizon, before which no ring can still hold a record, are passed on in order.
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
	unsigned *heap; /* indexes of non-empty queues; the top has the earliest record */
	unsigned n_heap;
};

void pp_merge_init(struct pp_merge *merge, unsigned n_queues);
void pp_merge_done(struct pp_merge *merge);

/* Takes ownership of event->filename. */
void pp_merge_add(struct pp_merge *merge, unsigned queue, const struct pp_kevent *event);

/* Passes on, in time order, the records older than horizon_ns. */
void pp_merge_emit(struct pp_merge *merge, uint64_t horizon_ns,
		   void (*emit)(void *data, unsigned queue, struct pp_kevent *event), void *data);

#endif
