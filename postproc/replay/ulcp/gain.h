/* SPDX-License-Identifier: MIT */
/*
 * The time that each pair of sections loses by unnecessary contention (paper 003, equation 1). A
 * pair are two sections in a row on one lock, of different threads, that do not contend.
 *
 * Time 1 is the begin of the segment before the first section, time 2 the end of the segment behind
 * it, time 3 that of the segment behind the second section; a segment is from one operation of a
 * thread to the next one. The gain is the difference of max(time 2, time 3) less that of time 1: of
 * the replay with the contention, and the one without.
 */
#ifndef PP_REPLAY_ULCP_GAIN_H
#define PP_REPLAY_ULCP_GAIN_H

#include "replay/simulate.h"
#include "replay/ulcp/edges.h"
#include "replay/ulcp/transform.h"

struct pp_ulcp_pair {
	guint first, second; /* numbers of sections */
	double gain_ns;	     /* the sum over all replays that were added */
};

/* Sections in a row of different threads, by their contention. */
struct pp_ulcp_counts {
	uint64_t n_unnecessary, n_contending;
	uint64_t n_unknown; /* accesses of one are not known, or the lock keeps its order */
};

/* Returns the pairs (of struct pp_ulcp_pair) without gains; the caller unrefs them. */
GArray *pp_ulcp_find_pairs(const GArray *sections, const GArray *sets, const bool *keeps_order,
			   struct pp_ulcp_counts *ret);

/* A simulation of a result, without threads that wait for ever. */
struct pp_ulcp_replay {
	const struct pp_ulcp_result *result;
	const struct pp_simulation_log *log;
};

/* Adds the gains by two replays of one model. */
void pp_ulcp_add_gains(GArray *pairs, const GArray *sections, const struct pp_ulcp_replay *with,
		       const struct pp_ulcp_replay *without);

#endif
