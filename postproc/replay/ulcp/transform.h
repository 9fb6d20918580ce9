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

/* The result's step that begins the one with that number in the original model. */
static inline uint32_t pp_ulcp_first_step(const struct pp_ulcp_result *result, uint32_t thread,
					  uint32_t step)
{
	return step == 0 ? 0 : result->steps[thread][step - 1] + 1;
}

#endif
