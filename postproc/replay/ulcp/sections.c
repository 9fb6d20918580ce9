/* SPDX-License-Identifier: MIT */
/* A thread is followed with the depth of each lock that it holds; then all sections are sorted. */
#include "replay/ulcp/sections.h"

#include <errno.h>
#include <stdlib.h>

/* A lock that the followed thread holds. */
struct held {
	uint32_t object, depth;
	guint section; /* number */
};

static const struct pp_replay_step *step_of(const struct pp_replay_thread *thread, uint32_t at)
{
	return &g_array_index(thread->steps, struct pp_replay_step, at);
}

static struct held *find_held(GArray *held, uint32_t object)
{
	for (guint i = held->len; i-- > 0;)
		if (g_array_index(held, struct held, i).object == object)
			return &g_array_index(held, struct held, i);
	return NULL;
}

static void acquire(GArray *sections, GArray *held, struct pp_ulcp_section section)
{
	struct held *before = find_held(held, section.object);
	struct held new = {section.object, 1, sections->len};

	if (before) {
		before->depth++;
		return;
	}
	g_array_append_val(held, new);
	g_array_append_val(sections, section);
}

static void release(GArray *sections, GArray *held, uint32_t object, uint32_t at)
{
	struct held *before = find_held(held, object);

	if (!before || --before->depth != 0)
		return;
	g_array_index(sections, struct pp_ulcp_section, before->section).last = at;
	g_array_remove_index_fast(held, (guint)(before - (struct held *)(void *)held->data));
}

static void follow(GArray *sections, const struct pp_replay_thread *thread, uint32_t number)
{
	g_autoptr(GArray) held = g_array_new(FALSE, FALSE, sizeof(struct held));
	uint32_t n = thread->steps->len;

	for (uint32_t i = 0; i < n; i++) {
		const struct pp_replay_step *step = step_of(thread, i);

		if (pp_replay_acquires(step->kind))
			acquire(sections, held,
				(struct pp_ulcp_section){.object = step->object,
							 .thread = number,
							 .first = i,
							 .last = n - 1,
							 .rank = step->rank,
							 .shared = step->kind == PP_REPLAY_RDLOCK});
		else if (step->kind == PP_REPLAY_UNLOCK)
			release(sections, held, step->object, i);
	}
}

static int compare(const void *a, const void *b)
{
	const struct pp_ulcp_section *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

guint pp_ulcp_count_of_lock(const GArray *sections, guint first)
{
	uint32_t object = pp_ulcp_section_at(sections, first)->object;
	guint end = first;

	while (end < sections->len && pp_ulcp_section_at(sections, end)->object == object)
		end++;
	return end - first;
}

static const char *lock_name(const struct pp_replay_model *model, uint32_t object)
{
	return ((const struct pp_replay_object *)model->objects->pdata[object])->name;
}

/* Checks the order of one lock; last: by thread, the number + 1 of its last section so far. */
static int check_lock(const struct pp_replay_model *model, const GArray *sections, guint first,
		      guint n, guint *last, struct pp_error *err)
{
	bool is_alone = true, has_ranks = true;

	for (guint i = first; i < first + n; i++) {
		const struct pp_ulcp_section *section = pp_ulcp_section_at(sections, i);
		guint before = last[section->thread];

		is_alone &= section->thread == pp_ulcp_section_at(sections, first)->thread;
		has_ranks &= section->rank != PP_REPLAY_NO_RANK;
		if (before > first &&
		    pp_ulcp_section_at(sections, before - 1)->first > section->first)
			return pp_error_add(err, -EINVAL,
					    "thread %u, step %u: the order of lock '%s' "
					    "contradicts that of the thread's steps",
					    section->thread, section->first,
					    lock_name(model, section->object));
		last[section->thread] = i + 1;
	}
	if (!is_alone && !has_ranks)
		return pp_error_add(err, -ENODATA,
				    "the order in which threads acquired lock '%s' is not known: "
				    "record the program, or give each acquisition its @RANK",
				    lock_name(model, pp_ulcp_section_at(sections, first)->object));
	return 0;
}

GArray *pp_ulcp_find_sections(const struct pp_replay_model *model, struct pp_error *err)
{
	GArray *sections = g_array_new(FALSE, FALSE, sizeof(struct pp_ulcp_section));
	g_autofree guint *last = g_new0(guint, model->threads->len);

	for (uint32_t i = 0; i < model->threads->len; i++)
		follow(sections, model->threads->pdata[i], i);
	if (sections->len)
		qsort(sections->data, sections->len, sizeof(struct pp_ulcp_section), compare);
	for (guint first = 0, n; first < sections->len; first += n) {
		n = pp_ulcp_count_of_lock(sections, first);
		if (check_lock(model, sections, first, n, last, err)) {
			g_array_unref(sections);
			return NULL;
		}
	}
	return sections;
}
