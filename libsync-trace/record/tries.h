/* SPDX-License-Identifier: MIT */
/*
 * Failed tries (pthread_mutex_trylock(), ...), if only waits are recorded.
 *
 * A run of failed tries of one thread on one object, at one call site, becomes one event: a failed
 * try with the time of the first, preceded by `tries` with the number of the others, which are
 * counted like operations that did not wait. It is written when the run ends, which any event of
 * the thread does; an acquisition of that object is then an event, too. So a reader finds what a
 * complete recording has, except the times of the other tries. A try that continues a run reads no
 * clock and writes nothing.
 *
 * While a run is open, operations without a wait are events (ST_DETOUR_TRIES), and so end it.
 *
 * The table of waiters (hold.h) also shows that a try has failed. The release that sees it takes
 * the mark away and writes its hold, so that the holder is known; a later try sets it again.
 *
 * A run that is open when the process ends or is killed is only counted.
 */
#ifndef ST_TRIES_H
#define ST_TRIES_H

#include "record/hold.h"

void st_tries_mark_slowly(const void *object) ST_COLD;

/* Called after a failed try for a lock: its holder sees that its hold is contended. */
static inline void st_tries_mark(const void *object)
{
	if (st_unlikely((st_waits_of(object) & ST_TRIED) == 0))
		st_tries_mark_slowly(object);
}

/* Called before a release that is written. */
static inline void st_tries_unmark(struct st_thread *self, const void *object)
{
	if (st_unlikely((st_waits_of(object) & ST_TRIED) != 0) && self->counts != NULL)
		__atomic_fetch_and(st_waiters_of(object), ~ST_TRIED, __ATOMIC_RELAXED);
}

/* Called after a failed try. Returns true if it continues the open run. */
static inline bool st_tries_continue(struct st_thread *self, enum st_event id, uintptr_t site,
				     const void *object)
{
	uint64_t *counts = self->counts;

	if (st_unlikely(self->tries.object != object) || st_unlikely(self->tries.site != site) ||
	    st_unlikely(counts == NULL)) /* forked in mid-event */
		return false;
	st_count_event(counts, id);
	self->tries.n_more++;
	return true;
}

/* Begins a run with a try that failed at that time. holder: tid; 0: not known. */
void st_tries_begin(struct st_thread *self, enum st_event id, int result, uintptr_t site,
		    const void *object, uint32_t holder, uint64_t now_ns) ST_COLD;

#endif
