/* SPDX-License-Identifier: MIT */
/*
 * The stacks that the history of calls tells of: when each was entered, and for how long it was the
 * innermost.
 *
 * Times are those between the records of a thread.  Before its first and after its last one nobody
 * knows what it did, so that is left out.
 */
#ifndef PP_EXPORT_STACKS_CALL_FOLD_H
#define PP_EXPORT_STACKS_CALL_FOLD_H

#include "export/stacks/stacks.h"
#include "export/stacks/walk.h"

struct pp_call_fold;

/* Both as far as they are wanted: NULL. */
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

/* For its notes. */
const struct pp_walk *pp_call_fold_walk(const struct pp_call_fold *fold);

#endif
