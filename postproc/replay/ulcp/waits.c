/* SPDX-License-Identifier: MIT */
/* All waits are collected and sorted; then each thread is followed with what it has waited for. */
#include "replay/ulcp/waits.h"

#include <stdlib.h>

/* --- edges ------------------------------------------------------------------------------------ */

static void add_edge(GArray *edges, const GArray *sections, guint source, guint target)
{
	struct pp_ulcp_edge edge = {source, target};

	if (pp_ulcp_section_at(sections, source)->thread !=
	    pp_ulcp_section_at(sections, target)->thread)
		g_array_append_val(edges, edge);
}

/* Readers between two others are one group, without an order among them. */
void pp_ulcp_keep_order(GArray *edges, const GArray *sections, guint first, guint n)
{
	guint group = first, before = first; /* begins of the present group, and of the last one */

	for (guint i = first + 1; i < first + n; i++) {
		if (!pp_ulcp_section_at(sections, i)->shared ||
		    !pp_ulcp_section_at(sections, i - 1)->shared) {
			before = group;
			group = i;
		}
		for (guint source = before; source < group; source++)
			add_edge(edges, sections, source, i);
	}
}

/* --- waits ------------------------------------------------------------------------------------ */

/* A step that takes an item of a semaphore. */
struct taking {
	uint32_t object, rank, thread, step;
};

static int compare_takings(const void *a, const void *b)
{
	const struct taking *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->step > y->step) - (x->step < y->step);
}

static GArray *find_takings(const struct pp_replay_model *model)
{
	GArray *takings = g_array_new(FALSE, FALSE, sizeof(struct taking));

	for (uint32_t i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		for (uint32_t k = 0; k < thread->steps->len; k++) {
			const struct pp_replay_step *step =
			    &g_array_index(thread->steps, struct pp_replay_step, k);
			struct taking taking = {step->object, step->rank, i, k};

			if (step->kind == PP_REPLAY_SEM_WAIT && step->rank != PP_REPLAY_NO_RANK)
				g_array_append_val(takings, taking);
		}
	}
	if (takings->len)
		qsort(takings->data, takings->len, sizeof(struct taking), compare_takings);
	return takings;
}

/* Each step that takes an item waits for the one before. */
static void add_semaphores(GArray *waits, const struct pp_replay_model *model)
{
	g_autoptr(GArray) takings = find_takings(model);

	for (guint i = 1; i < takings->len; i++) {
		const struct taking *before = &g_array_index(takings, struct taking, i - 1);
		const struct taking *taking = &g_array_index(takings, struct taking, i);
		struct pp_ulcp_wait wait = {
		    taking->thread, taking->step, {before->thread, before->step}};

		if (before->object == taking->object && before->thread != taking->thread)
			g_array_append_val(waits, wait);
	}
}

/* If a step has several waits for one thread, that for its last step comes first. */
static int compare_waits(const void *a, const void *b)
{
	const struct pp_ulcp_wait *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->of.thread != y->of.thread)
		return x->of.thread < y->of.thread ? -1 : 1;
	return (x->of.step < y->of.step) - (x->of.step > y->of.step);
}

static void forget(uint32_t *known, GArray *touched)
{
	for (guint i = 0; i < touched->len; i++)
		known[g_array_index(touched, uint32_t, i)] = 0;
	g_array_set_size(touched, 0);
}

/* Removes waits for what its thread knows to be done. */
static void remove_implied(GArray *waits, guint n_threads)
{
	/* by thread: the number + 1 of its last step that is known to be done */
	g_autofree uint32_t *known = g_new0(uint32_t, n_threads);
	g_autoptr(GArray) touched = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct pp_ulcp_wait *all = (struct pp_ulcp_wait *)(void *)waits->data;
	guint n = 0;

	for (guint i = 0; i < waits->len; i++) {
		struct pp_ulcp_wait wait = all[i];

		if (n && all[n - 1].thread != wait.thread)
			forget(known, touched);
		if (wait.of.step < known[wait.of.thread])
			continue;
		if (!known[wait.of.thread])
			g_array_append_val(touched, wait.of.thread);
		known[wait.of.thread] = wait.of.step + 1;
		all[n++] = wait;
	}
	g_array_set_size(waits, n);
}

GArray *pp_ulcp_waits(const struct pp_replay_model *model, const GArray *sections,
		      const GArray *edges)
{
	GArray *waits = g_array_new(FALSE, FALSE, sizeof(struct pp_ulcp_wait));

	for (guint i = 0; i < edges->len; i++) {
		const struct pp_ulcp_edge *edge = &g_array_index(edges, struct pp_ulcp_edge, i);
		const struct pp_ulcp_section *source = pp_ulcp_section_at(sections, edge->source);
		const struct pp_ulcp_section *target = pp_ulcp_section_at(sections, edge->target);
		struct pp_ulcp_wait wait = {
		    target->thread, target->first, {source->thread, source->last}};

		g_array_append_val(waits, wait);
	}
	add_semaphores(waits, model);
	if (waits->len)
		qsort(waits->data, waits->len, sizeof(struct pp_ulcp_wait), compare_waits);
	remove_implied(waits, model->threads->len);
	return waits;
}
