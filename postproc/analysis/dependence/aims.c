/* SPDX-License-Identifier: MIT */
/*
 * For whom each waiting thread waits, if edges are wanted.  The threads that wait for an object
 * wait for the instance at the end of its chain; so do those behind them.  When that changes, each
 * of them is charged for the time since the last change.
 */
#include "analysis/dependence/internal.h"

#include "analysis/select.h"

static void charge(struct pp_dependence *dependence, struct pp_dep_thread *of)
{
	int64_t ns = pp_selected_ns(dependence->context, of->charged_ns, dependence->now_ns);

	if (ns)
		pp_dep_edges_charge(of->source, of->vertex, of->kind, ns);
	of->charged_ns = dependence->now_ns;
}

static void aim_thread(struct pp_dependence *dependence, struct pp_dep_thread *of,
		       struct pp_dep_node *source)
{
	const struct pp_dep_node *culprit = of->wait->culprit;

	charge(dependence, of);
	of->is_handed_on |= culprit != of->first;
	of->source = source;
	of->kind = source != culprit  ? PP_DEPENDENCE_NESTED
		   : of->is_handed_on ? PP_DEPENDENCE_INDIRECT
				      : PP_DEPENDENCE_DIRECT;
}

static void add_waiters(GPtrArray *todo, const struct pp_dep_place *place)
{
	for (guint i = 0; place->waiters && i < place->waiters->len; i++) {
		struct pp_dep_thread *of = place->waiters->pdata[i];

		if (!of->is_detached)
			g_ptr_array_add(todo, of);
	}
}

/* Aims these threads and all behind them.  A chain may have any length, so this is no recursion. */
static void aim(struct pp_dependence *dependence, GPtrArray *todo, struct pp_dep_node *source)
{
	while (todo->len) {
		struct pp_dep_thread *of = g_ptr_array_steal_index_fast(todo, todo->len - 1);

		aim_thread(dependence, of, source);
		for (guint i = 0; i < of->held->len; i++) {
			const struct pp_dep_node *node = of->held->pdata[i];

			if (node->place->culprit == node)
				add_waiters(todo, node->place);
		}
	}
}

/* The end of the object's chain: the culprit, or that for which its thread waits. */
static struct pp_dep_node *end_of(struct pp_dependence *dependence,
				  const struct pp_dep_place *place)
{
	return pp_dep_next_of(dependence, place->culprit)
		   ? pp_dep_thread(dependence, place->culprit->thread)->source
		   : place->culprit;
}

void pp_dep_aim(struct pp_dependence *dependence, struct pp_dep_place *place)
{
	g_autoptr(GPtrArray) todo = g_ptr_array_new();

	add_waiters(todo, place);
	aim(dependence, todo, end_of(dependence, place));
}

void pp_dep_aim_begin(struct pp_dependence *dependence, struct pp_dep_thread *of)
{
	g_autoptr(GPtrArray) todo = g_ptr_array_new();
	struct pp_dep_place *place = of->wait;

	if (!place->waiters)
		place->waiters = g_ptr_array_new();
	g_ptr_array_add(place->waiters, of);
	if (of->vertex)
		pp_dep_vertex_drop(dependence, of->vertex);
	of->vertex = pp_dep_vertex_new();
	of->charged_ns = dependence->now_ns;
	of->first = place->culprit;
	of->is_handed_on = false;
	of->source = NULL;
	of->kind = PP_DEPENDENCE_DIRECT;
	if (of->is_detached)
		return;
	g_ptr_array_add(todo, of);
	aim(dependence, todo, end_of(dependence, place));
}

void pp_dep_aim_end(struct pp_dependence *dependence, struct pp_dep_thread *of,
		    struct pp_dep_place *place)
{
	charge(dependence, of);
	g_ptr_array_remove_fast(place->waiters, of);
	for (guint i = 0; i < of->held->len; i++) {
		const struct pp_dep_node *node = of->held->pdata[i];

		if (node->place->culprit == node)
			pp_dep_aim(dependence, node->place);
	}
}
