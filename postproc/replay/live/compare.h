/* SPDX-License-Identifier: MIT */
/* Comparisons of the schedules of two runs of a program. */
#ifndef PP_REPLAY_LIVE_COMPARE_H
#define PP_REPLAY_LIVE_COMPARE_H

#include "replay/live/schedule.h"

/*
 * The first difference in the operations of a thread, by kind and call site; NULL: there is none,
 * and the program is deterministic as far as the two runs tell. Condition waits depend on time, and
 * so does the number of tries at a site in a row: they are left out. Of threads that had not ended,
 * only the common part is compared. The caller frees the text.
 */
char *pp_schedule_difference(const struct pp_schedule *first, const struct pp_schedule *second);

/* How far a replay has kept the order of locks; that of semaphores is known by time only. */
struct pp_schedule_order {
	/*
	 * Acquisitions of the recorded run; of threads that the end of the process cut off, only as
	 * many operations count as the replay has.
	 */
	uint64_t n_recorded;
	uint64_t n_kept; /* ... that the replay made in the same turn of the same lock */
};

struct pp_schedule_order pp_schedule_compare_order(const struct pp_schedule *recorded,
						   const struct pp_schedule *replayed);

#endif
