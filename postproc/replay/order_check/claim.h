/* SPDX-License-Identifier: MIT */
/* A model, and another one that is said to keep its order. */
#ifndef PP_REPLAY_ORDER_CHECK_CLAIM_H
#define PP_REPLAY_ORDER_CHECK_CLAIM_H

#include "replay/model.h"
#include "replay/units.h"

struct pp_order_claim {
	const struct pp_replay_model *original, *result;
	/* By thread, by step of the original: the step of the result that ends it. */
	uint32_t *const *steps;
	/*
	 * Of struct pp_replay_set, by thread and step: the accesses of acquisitions. Those that are
	 * inexact, and of acquisitions that it lacks, are not known.
	 */
	const GArray *sets;
	/* By object: all sections of the lock conflict; NULL: of none. */
	const bool *keeps_order;
};

#endif
