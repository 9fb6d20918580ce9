/* SPDX-License-Identifier: MIT */
/*
 * Measures the CPU time that threads use because a lock is contended: to block, to try again after
 * a wake-up, and to wake another thread at a release. A step's CPU time includes that of the
 * release before it; it is taken out, because the replay adds it where a release wakes another
 * thread.
 *
 * All of this needs scheduling events; without them, all costs are 0.
 */
#ifndef PP_REPLAY_CONTENTION_H
#define PP_REPLAY_CONTENTION_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "replay/model.h"

struct pp_replay_contention;

/* A thread's part. All zero: it has not waited, and released nothing. */
struct pp_replay_contender {
	bool is_waiting, has_blocked;
	/* Its last step is a release; others waited for the lock; it has woken one since. */
	bool is_after_release, had_waiters, has_woken;
	uint64_t wait_cpu_ns;  /* in this wait, before it blocked for the first time */
	uint32_t release_site; /* of its last step, if that is a release */
	int64_t release_ns;    /* when */
	GArray *contended;     /* of uint32_t: numbers of the steps after such releases */
};

struct pp_replay_contention *pp_replay_contention_new(void);
void pp_replay_contention_free(struct pp_replay_contention *contention);
void pp_replay_contender_done(struct pp_replay_contender *contender);

/* The thread begins to wait for a lock; ends to wait for it. */
void pp_replay_contention_waits(struct pp_replay_contender *contender);
void pp_replay_contention_acquired(struct pp_replay_contention *contention,
				   struct pp_replay_contender *contender);

/* The waiting thread ran for so long; blocked. */
void pp_replay_contention_ran(struct pp_replay_contention *contention,
			      struct pp_replay_contender *contender, int64_t ns);
void pp_replay_contention_blocked(struct pp_replay_contention *contention,
				  struct pp_replay_contender *contender);

/* The thread has released a lock, for which others waited or not; wakes another thread. */
void pp_replay_contention_released(struct pp_replay_contender *contender, uint32_t site,
				   bool had_waiters, int64_t now_ns);
void pp_replay_contention_wakes(struct pp_replay_contention *contention,
				struct pp_replay_contender *contender, int64_t now_ns);

/* The thread's step with that number begins with so much CPU time, and ends at that site. */
void pp_replay_contention_step(struct pp_replay_contention *contention,
			       struct pp_replay_contender *contender, uint32_t number,
			       uint32_t site, uint64_t cpu_ns);

struct pp_replay_costs pp_replay_contention_costs(const struct pp_replay_contention *contention);

/* Takes the cost of releases out of the CPU time of the thread's steps. */
void pp_replay_contention_take_out(const struct pp_replay_contender *contender,
				   const struct pp_replay_costs *costs, GArray *steps);

#endif
