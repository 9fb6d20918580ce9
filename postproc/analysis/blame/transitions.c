/* SPDX-License-Identifier: MIT */
/* See transitions.h. */
#include "analysis/blame/transitions.h"

int64_t pp_transition_end_ns(const struct pp_thread *thread)
{
	return thread->end_ns != PP_TIME_UNKNOWN ? thread->end_ns : thread->process->end_ns;
}

static gint by_time(gconstpointer a, gconstpointer b)
{
	const struct pp_transition *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->is_end != y->is_end)
		return x->is_end ? 1 : -1;
	return (x->thread->serial > y->thread->serial) - (x->thread->serial < y->thread->serial);
}

static void add(GArray *transitions, const struct pp_thread *thread, int64_t time_ns, bool is_end)
{
	const struct pp_transition transition = {time_ns, thread, is_end};

	if (time_ns != PP_TIME_UNKNOWN)
		g_array_append_val(transitions, transition);
}

GArray *pp_transitions_new(const struct pp_model *model)
{
	GArray *transitions = g_array_new(FALSE, FALSE, sizeof(struct pp_transition));

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		add(transitions, thread, thread->start_ns, false);
		add(transitions, thread, pp_transition_end_ns(thread), true);
	}
	g_array_sort(transitions, by_time);
	return transitions;
}
