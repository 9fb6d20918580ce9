/* SPDX-License-Identifier: MIT */
/*
 * Finds the critical sections of a lock that work on the same data, by their accesses. Data is
 * shared if several threads access it in sections of the lock and one writes it. Sections that
 * share data, directly or through others, are one unit: they need the same lock.
 */
#ifndef PP_REPLAY_UNITS_H
#define PP_REPLAY_UNITS_H

#include "analysis/accesses/sections.h"
#include "replay/model.h"
#include "replay/orders.h"

/* The accesses of the section that the step begins. */
struct pp_replay_set {
	uint32_t thread, step;
	enum pp_accesses_known known;
	bool is_inexact;	   /* the set lacks lines */
	struct pp_access_set *set; /* owned; NULL: not known */
	/* Owned; NULL: none.  All bytes of the blocks that the section frees (`set` has them as
	 * written), and those of `set` that another thread freed later (replay/frees.h). */
	struct pp_access_set *freed, *freed_later;
	struct pp_replay_order
	    *order; /* owned, until the model is made; NULL: not known, or none */
};

struct pp_replay_units;

/* with_spans: the model tells where the conflicts of sections are. */
struct pp_replay_units *pp_replay_units_new(const struct pp_pass_context *context, bool with_spans);
void pp_replay_units_free(struct pp_replay_units *units);
void pp_replay_units_event(struct pp_replay_units *units, const struct pp_event *event);

/*
 * Adds the accesses to the model. objects: of const struct pp_object *, by number in the model;
 * serials: of the model's threads. end_ns: time of the capture's last event.
 */
void pp_replay_units_finish(struct pp_replay_units *units, struct pp_replay_model *model,
			    const GPtrArray *objects, const uint32_t *serials, int64_t end_ns);

/*
 * To be called afterwards: the accesses of all acquisitions (of struct pp_replay_set), by thread
 * and step. The caller unrefs the array.
 */
GArray *pp_replay_units_sets(const struct pp_replay_units *units);

/* The accesses of an acquisition, if they are known exactly; else NULL. */
const struct pp_replay_set *pp_replay_find_accesses(const GArray *sets, uint32_t thread,
						    uint32_t step);
struct pp_access_set *pp_replay_find_set(const GArray *sets, uint32_t thread, uint32_t step);

#endif
