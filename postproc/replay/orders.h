/* SPDX-License-Identifier: MIT */
/*
 * The order of the accesses of each section, from its segments: when a line was accessed first and
 * last, by the number of the access in the section.
 */
#ifndef PP_REPLAY_ORDERS_H
#define PP_REPLAY_ORDERS_H

#include "analysis/accesses/sections.h"

struct pp_replay_order_line {
	uint64_t address;
	uint64_t first, last; /* from 1 */
};

struct pp_replay_order {
	uint64_t n_accesses;
	bool is_unknown; /* a segment has accesses without an order */
	GArray *lines;	 /* of struct pp_replay_order_line; a line may be there several times */
};

struct pp_replay_orders;

struct pp_replay_orders *pp_replay_orders_new(void);
void pp_replay_orders_free(struct pp_replay_orders *orders);

void pp_replay_orders_segment(struct pp_replay_orders *orders,
			      const struct pp_access_instance *instance,
			      const struct pp_event *event);

/* The section has ended. Returns its order, which the caller frees; NULL: it has no segment. */
struct pp_replay_order *pp_replay_orders_take(struct pp_replay_orders *orders,
					      const struct pp_access_instance *instance);
void pp_replay_order_free(struct pp_replay_order *order);

#endif
