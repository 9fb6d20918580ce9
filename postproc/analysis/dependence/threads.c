/* SPDX-License-Identifier: MIT */
/* The threads, and for which object the thread of an instance waits. */
#include "analysis/dependence/internal.h"

struct pp_dep_thread *pp_dep_thread(struct pp_dependence *dependence,
				    const struct pp_thread *thread)
{
	struct pp_dep_thread *of;

	pp_by_serial_reach(dependence->threads, thread->serial);
	of = dependence->threads->pdata[thread->serial];
	if (!of) {
		of = dependence->threads->pdata[thread->serial] = g_new0(struct pp_dep_thread, 1);
		of->held = g_ptr_array_new();
	}
	return of;
}

void pp_dep_thread_free(void *data)
{
	struct pp_dep_thread *of = data;

	if (of)
		g_ptr_array_unref(of->held);
	g_free(of);
}

struct pp_dep_place *pp_dep_next_of(struct pp_dependence *dependence,
				    const struct pp_dep_node *culprit)
{
	const struct pp_dep_thread *of;

	if (!culprit || !culprit->is_held)
		return NULL;
	of = pp_dep_thread(dependence, culprit->thread);
	return of->is_detached ? NULL : of->wait;
}
