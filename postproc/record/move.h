/* SPDX-License-Identifier: MIT */
/*
 * Rings that grow: a ring that was found nearly full is left for a larger one, while its events go
 * on.  None is lost and none told twice: the kernel moves one event after the other, each at once.
 *
 * Each move waits for a grace period of the kernel's, some 10 ms, so a thread of its own makes them
 * while the collector goes on reading both rings.
 */
#ifndef PP_RECORD_MOVE_H
#define PP_RECORD_MOVE_H

#include "record/perf/ring.h"

/* Bytes that the rings of all CPUs take at most, old ones that are being left included. */
#define PP_RINGS_BYTES ((size_t)128 << 20)

/* As pp_ring_drain(); ends the move, if it was through by then. */
void pp_ring_read(struct pp_ring *ring, pp_ring_record *record, void *data);

/* After all were read: begins to move what is too small.  most_bytes: of each ring. */
void pp_rings_adapt(struct pp_ring *rings, unsigned n_rings, size_t most_bytes);

/* Ends the move that is under way, in whatever state; before pp_ring_close(). */
void pp_ring_move_cancel(struct pp_ring *ring);

/* What it has grown to. */
size_t pp_ring_bytes(const struct pp_ring *ring);

#endif
