/* SPDX-License-Identifier: MIT */
/* Numbers of threads stay, so that only steps within the kind's threads get other numbers. */
#include "replay/change/kind.h"

#include <errno.h>

#include "replay/change/names.h"
#include "replay/sections.h"

static struct pp_replay_step *step_of(const struct pp_replay_thread *thread, uint32_t at)
{
	return &g_array_index(thread->steps, struct pp_replay_step, at);
}

struct pp_replay_thread *pp_change_thread(const struct pp_replay_model *model,
					  const struct pp_change_kind_of *kind, uint32_t index)
{
	return model->threads->pdata[g_array_index(kind->threads, uint32_t, index)];
}

int pp_change_kind_index(const struct pp_change_kind_of *kind, uint32_t thread)
{
	uint32_t low = 0, high = kind->threads->len;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint32_t number = g_array_index(kind->threads, uint32_t, middle);

		if (number == thread)
			return (int)middle;
		if (number < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

const char *pp_change_kind_name(const struct pp_replay_model *model,
				const struct pp_change_kind_of *kind)
{
	return pp_change_site_name(model, kind->site);
}

/* --- finding ---------------------------------------------------------------------------------- */

/* By thread; creator UINT32_MAX: it was not created by another thread. */
struct creation {
	uint32_t creator, site;
};

static struct creation *find_creations(const struct pp_replay_model *model)
{
	struct creation *creations = g_new(struct creation, model->threads->len);
	g_autofree uint32_t *joined = pp_replay_join_sites(model);

	for (guint i = 0; i < model->threads->len; i++)
		creations[i] = (struct creation){UINT32_MAX, PP_REPLAY_NO_SITE};
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		for (guint k = 0; k < thread->steps->len; k++)
			if (step_of(thread, k)->kind == PP_REPLAY_CREATE)
				creations[step_of(thread, k)->thread] =
				    (struct creation){i, joined[step_of(thread, k)->site]};
	}
	return creations;
}

/* Threads with no known call site are of one kind if one thread created them. */
static bool is_same(const struct creation *a, const struct creation *b)
{
	return a->creator != UINT32_MAX && b->creator != UINT32_MAX && a->site == b->site &&
	       (a->site != PP_REPLAY_NO_SITE || a->creator == b->creator);
}

static bool matches(const struct pp_replay_model *model, guint thread, const char *pattern)
{
	const struct pp_replay_thread *of = model->threads->pdata[thread];

	return !pattern || g_pattern_match_simple(pattern, of->name);
}

/* Returns the first thread of the kind with the most matching threads; UINT32_MAX: none. */
static uint32_t find_first(const struct pp_replay_model *model, const struct creation *creations,
			   const char *pattern)
{
	guint n = model->threads->len, most = 0;
	uint32_t first = UINT32_MAX;
	g_autofree bool *is_counted = g_new0(bool, n);

	for (guint i = 0; i < n; i++) {
		guint count = 0;

		for (guint k = i; k < n && !is_counted[i]; k++) {
			if (!is_same(&creations[i], &creations[k]))
				continue;
			count += matches(model, k, pattern);
			is_counted[k] = k != i;
		}
		if (count <= most)
			continue;
		most = count;
		first = i;
	}
	return first;
}

int pp_change_find_kind(const struct pp_replay_model *model, const char *pattern,
			struct pp_change_kind_of *ret, struct pp_error *err)
{
	g_autofree struct creation *creations = find_creations(model);
	uint32_t first = find_first(model, creations, pattern);
	struct pp_change_kind_of kind = {0};

	if (first == UINT32_MAX)
		return pattern ? pp_error_add(err, -ENOENT,
					      "no thread that another one created is named '%s': "
					      "see gprof-mt report threads",
					      pattern)
			       : pp_error_add(err, -ENOENT, "no thread was created by another one");
	kind.threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	kind.site = creations[first].site;
	for (uint32_t i = 0; i < model->threads->len; i++) {
		if (!is_same(&creations[first], &creations[i]))
			continue;
		g_array_append_val(kind.threads, i);
		kind.creator = creations[i].creator;
	}
	for (guint i = 0; i < kind.threads->len; i++) {
		uint32_t thread = g_array_index(kind.threads, uint32_t, i);

		if (pp_change_kind_index(&kind, creations[thread].creator) < 0)
			continue;
		pp_change_kind_done(&kind);
		return pp_error_add(err, -ENOTSUP, "threads of this kind create each other");
	}
	*ret = kind;
	return 0;
}

void pp_change_kind_done(struct pp_change_kind_of *kind)
{
	g_array_unref(kind->threads);
}

/* --- replacing -------------------------------------------------------------------------------- */

/* Adds threads to the model until the kind has n_new. Returns all their numbers. */
static GArray *add_threads(struct pp_replay_model *model, const struct pp_change_kind_of *kind,
			   uint32_t n_new)
{
	GArray *numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	g_array_append_vals(numbers, kind->threads->data, kind->threads->len);
	while (numbers->len < n_new) {
		uint32_t number = model->threads->len;

		pp_replay_add_thread(model, pp_change_thread(model, kind, 0)->name)->has_creator =
		    true;
		g_array_append_val(numbers, number);
	}
	return numbers;
}

static void set_steps(struct pp_replay_model *model, const GArray *numbers, GArray *const *steps,
		      uint32_t n_new)
{
	const struct pp_replay_step end = {.kind = PP_REPLAY_EXIT};

	for (guint i = 0; i < numbers->len; i++) {
		struct pp_replay_thread *thread =
		    model->threads->pdata[g_array_index(numbers, uint32_t, i)];

		g_array_unref(thread->steps);
		if (i < n_new) {
			thread->steps = g_array_ref(steps[i]);
			continue;
		}
		thread->steps = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_step));
		g_array_append_val(thread->steps, end);
	}
}

/* Waits for steps of old threads are for their places. One for a later step of itself is none. */
static void move_waits(struct pp_replay_model *model, const struct pp_change_kind_of *kind,
		       const GArray *numbers, struct pp_change_place *const *places)
{
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		for (guint k = 0; k < thread->steps->len; k++) {
			struct pp_replay_step *step = step_of(thread, k);
			struct pp_change_place place;
			int old;

			if (step->kind != PP_REPLAY_AWAIT)
				continue;
			old = pp_change_kind_index(kind, step->of.thread);
			if (old < 0)
				continue;
			place = places[old][step->of.step];
			step->of.thread = g_array_index(numbers, uint32_t, place.thread);
			step->of.step = place.step;
			if (step->of.thread == i && step->of.step >= k)
				step->kind = PP_REPLAY_SIGNAL;
		}
	}
}

/* Inserts steps into a thread, and moves the waits for those behind. */
static void insert_steps(struct pp_replay_model *model, uint32_t thread, uint32_t at,
			 const GArray *steps)
{
	const struct pp_replay_thread *to = model->threads->pdata[thread];

	g_array_insert_vals(to->steps, at, steps->data, steps->len);
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *other = model->threads->pdata[i];

		for (guint k = 0; k < other->steps->len; k++) {
			struct pp_replay_step *step = step_of(other, k);

			if (step->kind == PP_REPLAY_AWAIT && step->of.thread == thread &&
			    step->of.step >= at)
				step->of.step += steps->len;
		}
	}
}

static void create_more(struct pp_replay_model *model, const struct pp_change_kind_of *kind,
			const GArray *numbers)
{
	const struct pp_replay_thread *creator = model->threads->pdata[kind->creator];
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_step));
	uint32_t last = 0;

	for (guint i = 0; i < creator->steps->len; i++) {
		const struct pp_replay_step *step = step_of(creator, i);

		if (step->kind == PP_REPLAY_CREATE && pp_change_kind_index(kind, step->thread) >= 0)
			last = i;
	}
	for (guint i = kind->threads->len; i < numbers->len; i++) {
		struct pp_replay_step step = {.kind = PP_REPLAY_CREATE,
					      .site = kind->site,
					      .thread = g_array_index(numbers, uint32_t, i)};

		g_array_append_val(steps, step);
	}
	insert_steps(model, kind->creator, last + 1, steps);
}

static bool is_join(const struct pp_replay_model *model, const struct pp_replay_step *step,
		    const GArray *numbers)
{
	const struct pp_change_kind_of all = {.threads = (GArray *)numbers};
	const struct pp_replay_thread *of;

	if (step->kind != PP_REPLAY_AWAIT || pp_change_kind_index(&all, step->of.thread) < 0)
		return false;
	of = model->threads->pdata[step->of.thread];
	return step->of.step + 1 == of->steps->len;
}

static void join_more(struct pp_replay_model *model, const struct pp_change_kind_of *kind,
		      const GArray *numbers)
{
	const struct pp_replay_thread *creator = model->threads->pdata[kind->creator];
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_step));
	uint32_t behind = 0;

	for (guint i = 0; i < creator->steps->len; i++)
		if (is_join(model, step_of(creator, i), numbers))
			behind = i + 1;
	for (guint i = 0; i < numbers->len && behind != 0; i++) {
		uint32_t number = g_array_index(numbers, uint32_t, i);
		const struct pp_replay_thread *thread = model->threads->pdata[number];
		struct pp_replay_step step = {.kind = PP_REPLAY_AWAIT,
					      .of = {number, thread->steps->len - 1}};

		g_array_append_val(steps, step);
	}
	if (behind != 0)
		insert_steps(model, kind->creator, behind, steps);
}

void pp_change_replace_kind(struct pp_replay_model *model, const struct pp_change_kind_of *kind,
			    GArray *const *steps, uint32_t n_new,
			    struct pp_change_place *const *places)
{
	g_autoptr(GArray) numbers = add_threads(model, kind, n_new);

	set_steps(model, numbers, steps, n_new);
	move_waits(model, kind, numbers, places);
	if (n_new <= kind->threads->len)
		return;
	create_more(model, kind, numbers);
	join_more(model, kind, numbers);
}
