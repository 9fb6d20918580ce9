/* SPDX-License-Identifier: MIT */
/*
 * Builds stacks from the history of calls: when each stack was entered, and how long it was the
 * innermost.
 *
 * Times lie between the first and the last record of a thread.  Before and after, the thread's
 * activity is unknown, so that time is not counted.
 */
#ifndef PP_EXPORT_STACKS_CALL_FOLD_H
#define PP_EXPORT_STACKS_CALL_FOLD_H

#include "export/stacks/stacks.h"
#include "export/stacks/walk.h"

struct pp_call_fold;

/* Either function may be NULL. */
struct pp_call_fold_listener {
	void *data;
	void (*entered)(void *data, const struct pp_thread *thread, struct pp_stack *stack,
			int64_t time_ns);
	void (*lasted)(void *data, const struct pp_thread *thread, struct pp_stack *stack,
		       int64_t from_ns, int64_t to_ns);
};

/* Stacks are added to `stacks`; only_returns as in walk.h. */
struct pp_call_fold *pp_call_fold_new(const struct pp_export *export, struct pp_stacks *stacks,
				      bool only_returns,
				      const struct pp_call_fold_listener *listener);
void pp_call_fold_free(struct pp_call_fold *fold);
void pp_call_fold_event(struct pp_call_fold *fold, const struct pp_event *event);

void pp_call_fold_finish(struct pp_call_fold *fold);

/* Returns the walk, for its notes. */
const struct pp_walk *pp_call_fold_walk(const struct pp_call_fold *fold);

#endif
