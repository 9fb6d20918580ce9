/* SPDX-License-Identifier: MIT */
/* The parts of a check. */
#ifndef PP_REPLAY_ORDER_CHECK_INTERNAL_H
#define PP_REPLAY_ORDER_CHECK_INTERNAL_H

#include "replay/order_check/claim.h"

/* From an acquisition to the release, or the end of the thread. */
struct pp_order_part {
	uint32_t object, thread, first, last, rank;
	bool shared;
	const struct pp_access_set *set; /* NULL: not known */
	uint32_t at;			 /* among those of its lock */
};

/* The thread of a part must have waited for that step when the part begins. */
struct pp_order_need {
	uint32_t thread, first;
	struct {
		uint32_t thread, last;
	} of;
};

/* parts.c: all parts, by object and rank (of struct pp_order_part); the caller unrefs them. */
GArray *pp_order_parts(const struct pp_order_claim *claim);

/* conflicts.c: do they conflict? They are of one lock and of two threads. */
bool pp_order_conflict(const struct pp_order_part *a, const struct pp_order_part *b);

/* needs.c: what each part must wait for (of struct pp_order_need); the caller unrefs it. */
GArray *pp_order_needs(const GArray *parts, guint n_threads);

/* steps.c: the steps of both models. Returns NULL, or what is wrong; the caller frees it. */
char *pp_order_check_steps(const struct pp_order_claim *claim, const GArray *parts);

static inline const struct pp_replay_step *pp_order_step(const struct pp_replay_model *model,
							 uint32_t thread, uint32_t step)
{
	const struct pp_replay_thread *of = model->threads->pdata[thread];

	return &g_array_index(of->steps, struct pp_replay_step, step);
}

static inline const struct pp_order_part *pp_order_part_at(const GArray *parts, guint i)
{
	return &g_array_index(parts, struct pp_order_part, i);
}

/* The result's step that begins a step of the original. */
static inline uint32_t pp_order_begin(const struct pp_order_claim *claim, uint32_t thread,
				      uint32_t step)
{
	return step == 0 ? 0 : claim->steps[thread][step - 1] + 1;
}

#endif
