/* SPDX-License-Identifier: MIT */
/*
 * The waits by which a replay keeps an order without locks: a thread waits, at a step, until
 * another thread has done a step. Steps are those of the original model.
 */
#ifndef PP_REPLAY_ULCP_WAITS_H
#define PP_REPLAY_ULCP_WAITS_H

#include "replay/model.h"
#include "replay/ulcp/sections.h"

/* The target begins after the source has ended. Numbers of sections of one lock. */
struct pp_ulcp_edge {
	uint32_t source, target;
};

struct pp_ulcp_wait {
	uint32_t thread, step;
	struct {
		uint32_t thread, step;
	} of;
};

/* Adds edges that keep the whole order of the lock whose n sections begin with `first`. */
void pp_ulcp_keep_order(GArray *edges, const GArray *sections, guint first, guint n);

/*
 * Returns the waits (of struct pp_ulcp_wait) for these edges, by thread and step, without those
 * that others of the same thread imply. Waits for semaphores come with them, in the recorded order:
 * a thread must not take the item for which another one waits that has to go on before it. The
 * caller unrefs the array.
 */
GArray *pp_ulcp_waits(const struct pp_replay_model *model, const GArray *sections,
		      const GArray *edges);

#endif
