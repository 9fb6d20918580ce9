/* SPDX-License-Identifier: MIT */
/*
 * Recognizes threads that spin: runs of failed tries (pthread_mutex_trylock(), ...) of one thread
 * on one object, with no other operation of the thread in between.  A run that ends with a
 * successful try was a wait for the object, during which the thread ran.  A run that ends with any
 * other operation was not: the thread gave up.
 */
#ifndef PP_ANALYSIS_STATE_TRY_RUNS_H
#define PP_ANALYSIS_STATE_TRY_RUNS_H

#include "analysis/site_set.h"
#include "analysis/state/object_state.h"

struct pp_try_run {
	const struct pp_object *object; /* NULL: the thread's last operation was no failed try */
	uint64_t order;			/* of the object, which may have been folded */
	enum st_event op;		/* of the first try */
	uint64_t site;
	int64_t since_ns; /* the time of the first try */
	uint64_t n_failed;
	bool is_new;		   /* its last try is its first */
	struct pp_site_key holder; /* for the pass: the hold that the first try found */
};

struct pp_try_runs {
	GArray *of_thread; /* of struct pp_try_run, by thread serial */
};

void pp_try_runs_init(struct pp_try_runs *runs);
void pp_try_runs_done(struct pp_try_runs *runs);

/* True if the operation is a try that failed because the object was not free. */
bool pp_is_failed_try(const struct pp_operation *operation, bool acquired);

/*
 * To be called for each operation on an object (struct pp_object_listener).  Returns the run that a
 * failed try begins or continues, or that a successful try ends; NULL: none.  It is valid until the
 * next call.
 */
struct pp_try_run *pp_try_runs_operation(struct pp_try_runs *runs, const struct pp_object *object,
					 const struct pp_operation *operation, bool acquired);

#endif
