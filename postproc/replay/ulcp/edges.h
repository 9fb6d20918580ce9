/* SPDX-License-Identifier: MIT */
/*
 * Rule 1 of the transformation: an edge from each critical section to the first one of each other
 * thread, later on the same lock, with which it contends (analysis/ulcp/search.h). A section of
 * which the accesses are not known contends with all others. Readers of a lock never contend with
 * each other.
 *
 * Memory that is freed and allocated again counts as one: the order of its sections is kept.
 */
#ifndef PP_REPLAY_ULCP_EDGES_H
#define PP_REPLAY_ULCP_EDGES_H

#include "replay/ulcp/waits.h"
#include "replay/units.h"

struct pp_ulcp_edges {
	GArray *edges; /* of struct pp_ulcp_edge */
	/*
	 * By object: the recorded order of the lock is kept, since no section of it is known, or
	 * since readers change memory.
	 */
	bool *keeps_order;
	uint32_t n_locks, n_unknown_locks, n_writing_locks; /* with sections; of both reasons */
	uint64_t n_unknown;				    /* sections of the other locks */
};

/* sections: pp_ulcp_find_sections(); sets: of struct pp_replay_set, by thread and step. */
void pp_ulcp_find_edges(const struct pp_replay_model *model, const GArray *sections,
			const GArray *sets, struct pp_ulcp_edges *ret);
/* Edges that keep the order of all locks. */
void pp_ulcp_all_edges(const struct pp_replay_model *model, const GArray *sections,
		       struct pp_ulcp_edges *ret);
void pp_ulcp_edges_done(struct pp_ulcp_edges *edges);

#endif
