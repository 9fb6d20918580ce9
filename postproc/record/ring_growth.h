/* SPDX-License-Identifier: MIT */
/*
 * Grows rings: events are moved from a ring that was nearly full to a larger one while they record.
 * No record is lost or duplicated, because the kernel moves each event atomically.
 *
 * Each move waits for a grace period of the kernel, about 10 ms, so a separate thread moves events
 * while the collector reads both rings.
 */
#ifndef PP_RECORD_RING_GROWTH_H
#define PP_RECORD_RING_GROWTH_H

#include "record/perf/ring.h"

/* The limit for the rings of all CPUs together, including old rings during a move. */
#define PP_RINGS_BYTES ((size_t)128 << 20)

/* Like pp_ring_drain(); also completes a move that has finished. */
void pp_ring_read(struct pp_ring *ring, pp_ring_record *record, void *data);

/*
 * Call after all rings were read: starts to move the rings that are too small.  most_bytes: limit
 * per ring.
 */
void pp_rings_adapt(struct pp_ring *rings, unsigned n_rings, size_t most_bytes);

/* Cancels a move in progress, in any state; call it before pp_ring_close(). */
void pp_ring_move_cancel(struct pp_ring *ring);

/* Returns the current size. */
size_t pp_ring_bytes(const struct pp_ring *ring);

#endif
