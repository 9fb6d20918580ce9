/* SPDX-License-Identifier: MIT */
/*
 * Tells threads that take turns from threads that work for each other, where each waits for a
 * condition variable of its own, with one mutex and at one call site.
 *
 * A thread wakes the next one, which then wakes another one: if that leads back to the first, and
 * at least three threads are involved, they take turns, as in a queue for a lock. Two threads that
 * wake each other may as well be a producer and a consumer behind one wrapper, and a thread that
 * all others wake, and that wakes all others, gives out work.
 */
#ifndef PP_ANALYSIS_STATE_TURNS_H
#define PP_ANALYSIS_STATE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* By waker: those that it woke. */
struct pp_turns {
	GHashTable *wakers;
};

/* Threads are given by their serial numbers. */
struct pp_turn {
	uint64_t mutex, site;
	uint32_t waker, waiter;
};

void pp_turns_init(struct pp_turns *turns);
void pp_turns_done(struct pp_turns *turns);

/* Adds the end of a wait. */
void pp_turns_add(struct pp_turns *turns, const struct pp_turn *turn);

/* True if that waker and waiter take turns.  To be called after all ends were added. */
bool pp_turns_has(const struct pp_turns *turns, const struct pp_turn *turn);

#endif
