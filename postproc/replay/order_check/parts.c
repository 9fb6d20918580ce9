/* SPDX-License-Identifier: MIT */
/* For each lock of a thread, the depth of its acquisitions tells where a part begins and ends. */
#include <stdlib.h>

#include "replay/order_check/internal.h"

static const struct pp_access_set *set_of(const struct pp_order_claim *claim, uint32_t object,
					  uint32_t thread, uint32_t step)
{
	return claim->keeps_order && claim->keeps_order[object]
		   ? NULL
		   : pp_replay_find_set(claim->sets, thread, step);
}

/* A lock of the thread: how often it has it, and the part (number) that this began. */
struct depth {
	uint32_t depth;
	guint part;
};

static void add_thread(GArray *parts, const struct pp_order_claim *claim, uint32_t number)
{
	g_autofree struct depth *depths = g_new0(struct depth, claim->original->objects->len);
	const struct pp_replay_thread *thread = claim->original->threads->pdata[number];

	for (uint32_t i = 0; i < thread->steps->len; i++) {
		const struct pp_replay_step *step = pp_order_step(claim->original, number, i);
		struct depth *depth;

		if (step->kind > PP_REPLAY_UNLOCK)
			continue;
		depth = &depths[step->object];
		if (step->kind == PP_REPLAY_UNLOCK) {
			if (depth->depth && --depth->depth == 0)
				g_array_index(parts, struct pp_order_part, depth->part).last = i;
		} else if (depth->depth++ == 0) {
			struct pp_order_part part = {
			    .object = step->object,
			    .thread = number,
			    .first = i,
			    .last = thread->steps->len - 1,
			    .rank = step->rank,
			    .shared = step->kind == PP_REPLAY_RDLOCK,
			    .set = set_of(claim, step->object, number, i),
			};

			depth->part = parts->len;
			g_array_append_val(parts, part);
		}
	}
}

static int compare_parts(const void *a, const void *b)
{
	const struct pp_order_part *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

GArray *pp_order_parts(const struct pp_order_claim *claim)
{
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct pp_order_part));

	for (guint i = 0; i < claim->original->threads->len; i++)
		add_thread(parts, claim, i);
	if (parts->len)
		qsort(parts->data, parts->len, sizeof(struct pp_order_part), compare_parts);
	for (guint i = 1; i < parts->len; i++) {
		struct pp_order_part *part = &g_array_index(parts, struct pp_order_part, i);

		if (part->object == part[-1].object)
			part->at = part[-1].at + 1;
	}
	return parts;
}
