/* SPDX-License-Identifier: MIT */
/*
 * Tells whether the second section of a pair could have come first: its thread must not have waited
 * for anything that the first section's thread did since that section began.
 *
 * The events between the two acquisitions are followed: the first thread affects the objects that
 * it uses from then on, and these affect the threads that acquire or receive something from them.
 * This is the happened-before relation of synchronization; communication by memory alone is not
 * seen, and shows in a replay that makes no progress.
 *
 * All operations before the second acquisition that are not affected come before both sections in
 * any order. In each thread they are the first ones.
 */
#ifndef PP_REPLAY_REVERSE_ORDER_H
#define PP_REPLAY_REVERSE_ORDER_H

#include "core/event.h"

/* A section, by the operation that began it. */
struct pp_reversal_end {
	uint32_t thread; /* serial */
	uint64_t op;
};

struct pp_reversal_order;

struct pp_reversal_order *pp_reversal_order_new(void);
void pp_reversal_order_free(struct pp_reversal_order *order);

/* A pair that is to be followed. Its number is 0, 1, ... in the order of these calls. */
void pp_reversal_order_add(struct pp_reversal_order *order, const struct pp_reversal_end *first,
			   const struct pp_reversal_end *second);

/* The event has ended that operation of its thread; UINT64_MAX: none. In order of time. */
void pp_reversal_order_event(struct pp_reversal_order *order, const struct pp_event *event,
			     uint64_t op);

/*
 * The number of each thread's operations that come before both sections, of uint64_t, by serial:
 * threads beyond the end of the array have none. NULL: the second section cannot come first. Lent.
 */
const GArray *pp_reversal_order_before(const struct pp_reversal_order *order, unsigned pair);

#endif
