/* SPDX-License-Identifier: MIT */
/*
 * Makes a model that keeps an order by waits, and has no locks: rules 2 to 4 of the transformation
 * of unnecessary lock contention. Two sections with a common auxiliary lock exclude each other, and
 * the order in which they have it is the recorded one; a source's lock is skipped once its section
 * has ended. All of this amounts to a wait for each source section that has not ended.
 *
 * Every engine can replay the result.
 */
#ifndef PP_REPLAY_ULCP_TRANSFORM_H
#define PP_REPLAY_ULCP_TRANSFORM_H

#include "replay/ulcp/waits.h"

struct pp_ulcp_result {
	struct pp_replay_model *model;
	uint32_t **steps; /* by thread, by step of the original: the step that ends it */
	guint n_threads;
};

/*
 * The model is valid (pp_replay_check()), and so is the result. All of its operations on locks
 * become waits, or steps that do nothing; a step gets as many further waits as it needs, before it.
 * Accesses are left out, since they belong to acquisitions. The caller calls
 * pp_ulcp_result_done().
 */
void pp_ulcp_transform(const struct pp_replay_model *model, const GArray *waits,
		       struct pp_ulcp_result *ret);
void pp_ulcp_result_done(struct pp_ulcp_result *result);

/*
 * Copies the model by steps: copy() adds at least one step for each of the original, which may
 * await steps by their numbers there. Accesses are left out.
 */
struct pp_ulcp_copier {
	void (*copy)(void *data, GArray *steps, uint32_t thread, uint32_t at,
		     const struct pp_replay_step *step);
	void *data;
};

void pp_ulcp_copy(const struct pp_replay_model *model, const struct pp_ulcp_copier *copier,
		  struct pp_ulcp_result *ret);

/*
 * Adds a step for one of the original, at its call site; the first one has its CPU time, and its
 * rank.
 */
void pp_ulcp_add_step(GArray *steps, const struct pp_replay_step *step, bool is_first,
		      struct pp_replay_step new);

/* The result's step that begins the one with that number in the original model. */
static inline uint32_t pp_ulcp_first_step(const struct pp_ulcp_result *result, uint32_t thread,
					  uint32_t step)
{
	return step == 0 ? 0 : result->steps[thread][step - 1] + 1;
}

#endif
