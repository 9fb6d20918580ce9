/* SPDX-License-Identifier: MIT */
/*
 * The steps of each thread are compared, one of the original with those that replace it. A wait
 * among these must belong to a part that begins there, or to a semaphore.
 */
#include <stdlib.h>

#include "replay/order_check/internal.h"

struct checker {
	const struct pp_order_claim *claim;
	const GArray *parts;
	GArray *by_end, *by_begin; /* numbers of parts, by thread and last; first step */
	char *wrong;
};

static bool fail(struct checker *self, uint32_t thread, uint32_t step, const char *what)
{
	self->wrong = g_strdup_printf("thread %u, step %u: %s", thread, step, what);
	return false;
}

/* --- parts by their steps --------------------------------------------------------------------- */

struct place {
	uint32_t thread, step;
	guint part;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (x->part > y->part) - (x->part < y->part);
}

static GArray *places_of(const GArray *parts, bool is_end)
{
	GArray *places = g_array_new(FALSE, FALSE, sizeof(struct place));

	for (guint i = 0; i < parts->len; i++) {
		const struct pp_order_part *part = pp_order_part_at(parts, i);
		struct place place = {part->thread, is_end ? part->last : part->first, i};

		g_array_append_val(places, place);
	}
	if (places->len)
		qsort(places->data, places->len, sizeof(struct place), compare_places);
	return places;
}

/* The index of the first place at that step or later. */
static guint find_place(const GArray *places, uint32_t thread, uint32_t step)
{
	const struct place key = {thread, step, 0};
	guint low = 0, high = places->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (compare_places(&g_array_index(places, struct place, middle), &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct pp_order_part *part_at(const struct checker *self, const GArray *places,
					   guint i, uint32_t thread, uint32_t step)
{
	const struct place *place =
	    i < places->len ? &g_array_index(places, struct place, i) : NULL;

	return place && place->thread == thread && place->step == step
		   ? pp_order_part_at(self->parts, place->part)
		   : NULL;
}

/* --- waits ------------------------------------------------------------------------------------ */

/* Finds the step of the original that the result's step ends. Returns false if it ends none. */
static bool find_original(const struct checker *self, uint32_t thread, uint32_t step, uint32_t *ret)
{
	const struct pp_replay_thread *of = self->claim->original->threads->pdata[thread];
	const uint32_t *steps = self->claim->steps[thread];
	guint low = 0, high = of->steps->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (steps[middle] < step)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = low;
	return low < of->steps->len && steps[low] == step;
}

/* The wait of a part must be for the end of one of its lock that comes first and conflicts. */
static bool is_for_conflict(const struct checker *self, const struct pp_order_part *part,
			    uint32_t thread, uint32_t step)
{
	const struct pp_order_part *source;

	for (guint i = find_place(self->by_end, thread, step);
	     (source = part_at(self, self->by_end, i, thread, step)); i++)
		if (source->object == part->object && source->at < part->at &&
		    source->thread != part->thread && pp_order_conflict(source, part))
			return true;
	return false;
}

static bool is_for_item(const struct checker *self, const struct pp_replay_step *step,
			uint32_t thread, uint32_t awaited)
{
	const struct pp_replay_step *other = pp_order_step(self->claim->original, thread, awaited);

	return step->kind == PP_REPLAY_SEM_WAIT && other->kind == PP_REPLAY_SEM_WAIT &&
	       other->object == step->object && other->rank <= step->rank;
}

static bool check_wait(struct checker *self, uint32_t thread, uint32_t at,
		       const struct pp_replay_step *wait)
{
	const struct pp_replay_step *step = pp_order_step(self->claim->original, thread, at);
	const struct pp_order_part *part =
	    part_at(self, self->by_begin, find_place(self->by_begin, thread, at), thread, at);
	uint32_t awaited;

	if (wait->kind != PP_REPLAY_AWAIT)
		return fail(self, thread, at, "an operation was added");
	if (!find_original(self, wait->of.thread, wait->of.step, &awaited))
		return fail(self, thread, at, "it waits for a step in between");
	if (part ? is_for_conflict(self, part, wait->of.thread, awaited)
		 : is_for_item(self, step, wait->of.thread, awaited))
		return true;
	return fail(self, thread, at, "it waits without need");
}

/* --- steps ------------------------------------------------------------------------------------ */

/* True if the operations are the same; awaited steps have new numbers. */
static bool is_same(const struct checker *self, const struct pp_replay_step *a,
		    const struct pp_replay_step *b)
{
	if (a->kind != b->kind || a->site != b->site)
		return false;
	switch (a->kind) {
	case PP_REPLAY_AWAIT:
		return a->of.thread == b->of.thread &&
		       self->claim->steps[a->of.thread][a->of.step] == b->of.step;
	case PP_REPLAY_SLEEP:
		return a->sleep_ns == b->sleep_ns;
	case PP_REPLAY_NOTIFIED:
		return a->notified.object == b->notified.object &&
		       a->notified.count == b->notified.count;
	case PP_REPLAY_EXIT:
	case PP_REPLAY_SIGNAL:
		return true;
	default:
		return a->object == b->object;
	}
}

static bool check_step(struct checker *self, uint32_t thread, uint32_t at)
{
	const struct pp_replay_model *result = self->claim->result;
	const struct pp_replay_step *step = pp_order_step(self->claim->original, thread, at);
	uint32_t begin = pp_order_begin(self->claim, thread, at);
	uint32_t end = self->claim->steps[thread][at];
	const struct pp_replay_step *last;
	bool is_on_lock = step->kind <= PP_REPLAY_UNLOCK, is_kept;
	uint64_t cpu_ns = 0;

	if (end < begin ||
	    end >= ((struct pp_replay_thread *)result->threads->pdata[thread])->steps->len)
		return fail(self, thread, at, "it has no step in the result");
	last = pp_order_step(result, thread, end);
	is_kept = is_on_lock ? last->kind == PP_REPLAY_SIGNAL : is_same(self, step, last);
	if (!is_kept && !is_on_lock)
		return fail(self, thread, at, "the operation was changed");
	for (uint32_t i = begin; i <= end; i++) {
		const struct pp_replay_step *new = pp_order_step(result, thread, i);

		cpu_ns += new->cpu_ns;
		if (i > begin && new->cpu_ns)
			return fail(self, thread, at, "CPU time is behind a wait");
		if (!(i == end && is_kept) && !check_wait(self, thread, at, new))
			return false;
	}
	return cpu_ns == step->cpu_ns || fail(self, thread, at, "the CPU time was changed");
}

static bool check_threads(struct checker *self)
{
	const struct pp_replay_model *original = self->claim->original;

	if (original->threads->len != self->claim->result->threads->len) {
		self->wrong = g_strdup("the number of threads was changed");
		return false;
	}
	for (uint32_t i = 0; i < original->threads->len; i++) {
		const struct pp_replay_thread *a = original->threads->pdata[i];
		const struct pp_replay_thread *b = self->claim->result->threads->pdata[i];

		if (a->has_creator != b->has_creator || a->start_ns != b->start_ns)
			return fail(self, i, 0, "the begin of the thread was changed");
		for (uint32_t k = 0; k < a->steps->len; k++)
			if (!check_step(self, i, k))
				return false;
		if (self->claim->steps[i][a->steps->len - 1] != b->steps->len - 1)
			return fail(self, i, a->steps->len - 1, "steps were added behind it");
	}
	return true;
}

char *pp_order_check_steps(const struct pp_order_claim *claim, const GArray *parts)
{
	struct checker self = {claim, parts, places_of(parts, true), places_of(parts, false), NULL};

	check_threads(&self);
	g_array_unref(self.by_end);
	g_array_unref(self.by_begin);
	return self.wrong;
}
