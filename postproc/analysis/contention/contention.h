/* SPDX-License-Identifier: MIT */
/*
 * Measures the CPU time that threads use because a lock is contended: to block, to try again after
 * a wake-up, and to wake another thread at a release.
 *
 * A release is measured by the CPU time from it to the thread's next operation, which begins a new
 * step.  All of this needs scheduling events; without them, all costs are 0.
 */
#ifndef PP_ANALYSIS_CONTENTION_CONTENTION_H
#define PP_ANALYSIS_CONTENTION_CONTENTION_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/state/thread_mode.h"

/* The CPU time that contention of locks costs: medians, and the mean of releases. */
struct pp_contention_costs {
	int64_t block_ns;   /* to block */
	int64_t retry_ns;   /* after a wake-up, before it tries again to take the lock */
	int64_t release_ns; /* for a release that wakes a thread, after it */
	int64_t wake_up_ns; /* of release_ns, that before the wake-up */
};

struct pp_contention;

/* A thread's part. */
struct pp_contender {
	int64_t until_ns; /* its time is known up to then; PP_TIME_UNKNOWN: of none */
	uint64_t cpu_ns;  /* since its last operation, outside of waits */
	unsigned n_waits; /* synchronization operations that it waits in */
	bool is_waiting, has_blocked;
	/* Its last step is a release; others waited for the lock; it has woken one since. */
	bool is_after_release, had_waiters, has_woken;
	uint64_t wait_cpu_ns;  /* in this wait, since it began or blocked last */
	uint64_t release_site; /* of its last step, if that is a release */
	int64_t release_ns;    /* when */
};

/* A thread that has not waited, and released nothing. */
#define PP_CONTENDER_INIT                                                                          \
	{                                                                                          \
		.until_ns = PP_TIME_UNKNOWN                                                        \
	}

struct pp_contention *pp_contention_new(void);
void pp_contention_free(struct pp_contention *contention);

/*
 * The thread was in that mode until then.  Returns the time in ns for which it was blocked outside
 * of synchronization operations: 0 in other modes, and before its time is known.
 */
int64_t pp_contention_pass(struct pp_contention *contention, struct pp_contender *contender,
			   int64_t until_ns, enum pp_mode mode);

/* The thread begins to wait in an operation; has ended a wait. */
void pp_contention_waits(struct pp_contender *contender, bool is_lock);
void pp_contention_waited(struct pp_contention *contention, struct pp_contender *contender);

/*
 * The thread begins a new step, at that call site: a caller may number sites.  Returns the CPU time
 * in ns since the last one; *ret_contended: it begins with the release of a lock that others waited
 * for.
 */
uint64_t pp_contention_step(struct pp_contention *contention, struct pp_contender *contender,
			    uint64_t site, bool *ret_contended);

/* The step that has begun releases a lock. */
void pp_contention_released(struct pp_contender *contender, uint64_t site, bool had_waiters,
			    int64_t now_ns);

/* The thread wakes another one. */
void pp_contention_wakes(struct pp_contention *contention, struct pp_contender *contender,
			 int64_t now_ns);

struct pp_contention_costs pp_contention_costs(const struct pp_contention *contention);

#endif
