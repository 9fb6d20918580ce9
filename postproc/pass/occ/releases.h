/* SPDX-License-Identifier: MIT */
/*
 * Measures the CPU time that releases of contended locks take (analysis/contention): that of the
 * kernel, which wakes a waiting thread.  The thread that releases neither waits nor is in the
 * section meanwhile, so paper 001 does not have this time, and optimistic concurrency saves it.
 */
#ifndef PP_PASS_OCC_RELEASES_H
#define PP_PASS_OCC_RELEASES_H

#include "analysis/contention/contention.h"
#include "analysis/state/object_state.h"

struct pp_occ_releases {
	const struct pp_thread_states *states; /* borrowed */
	struct pp_contention *contention;
	GArray *contenders; /* of struct pp_contender, by thread serial */
};

void pp_occ_releases_init(struct pp_occ_releases *releases, const struct pp_thread_states *states);
void pp_occ_releases_done(struct pp_occ_releases *releases);

/* An interval of the thread's time; an event of any kind, before it changes the states. */
void pp_occ_releases_interval(struct pp_occ_releases *releases, const struct pp_interval *interval);
void pp_occ_releases_event(struct pp_occ_releases *releases, const struct pp_event *event);

/* The thread begins to wait for the object; an operation on the object ends. */
void pp_occ_releases_waits(struct pp_occ_releases *releases, const struct pp_object *object,
			   const struct pp_operation *operation);
void pp_occ_releases_operation(struct pp_occ_releases *releases, const struct pp_object *object,
			       const struct pp_operation *operation);

/*
 * The thread releases the lock, at that site; 0: not known.  Returns true if other threads wait for
 * the lock.
 */
bool pp_occ_releases_released(struct pp_occ_releases *releases, const struct pp_object *lock,
			      const struct pp_thread *thread, uint64_t site, int64_t now_ns);

/* The mean of a release that returned true, in ns; 0: not known. */
double pp_occ_releases_cost_ns(const struct pp_occ_releases *releases);

#endif
