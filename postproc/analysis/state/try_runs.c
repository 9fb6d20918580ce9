/* SPDX-License-Identifier: MIT */
/* The open run of each thread; a thread has at most one. */
#include "analysis/state/try_runs.h"

#include <errno.h>

void pp_try_runs_init(struct pp_try_runs *runs)
{
	runs->of_thread = g_array_new(FALSE, TRUE, sizeof(struct pp_try_run));
}

void pp_try_runs_done(struct pp_try_runs *runs)
{
	g_clear_pointer(&runs->of_thread, g_array_unref);
}

bool pp_is_failed_try(const struct pp_operation *operation, bool acquired)
{
	return !acquired && operation->finished && pp_sync_has(operation->op, PP_SYNC_TRIES) &&
	       (operation->result == EBUSY || operation->result == EAGAIN);
}

static struct pp_try_run *run_of(struct pp_try_runs *runs, const struct pp_thread *thread)
{
	if (thread->serial >= runs->of_thread->len)
		g_array_set_size(runs->of_thread, thread->serial + 1);
	return &g_array_index(runs->of_thread, struct pp_try_run, thread->serial);
}

struct pp_try_run *pp_try_runs_operation(struct pp_try_runs *runs, const struct pp_object *object,
					 const struct pp_operation *operation, bool acquired)
{
	struct pp_try_run *run = run_of(runs, operation->thread);
	bool is_same = run->object == object && run->order == object->order;

	if (pp_is_failed_try(operation, acquired)) {
		run->is_new = false;
		if (!is_same)
			*run = (struct pp_try_run){
			    .object = object,
			    .order = object->order,
			    .op = operation->op,
			    .site = operation->site,
			    .since_ns = operation->begin_ns,
			    .is_new = true,
			};
		run->n_failed += 1 + operation->more_tries;
		return run;
	}
	run->object = NULL;
	return is_same && acquired && pp_sync_has(operation->op, PP_SYNC_TRIES) ? run : NULL;
}
