/* SPDX-License-Identifier: MIT */
/*
 * Finds pairs of critical sections whose order may not matter, and samples of them for a replay in
 * the other order. A candidate is a conflicting pair of consecutive sections, of which accesses
 * alone do not show that a section reads another value in the other order: both update the same
 * bytes, both write them, or one polls what the other one sets (analysis/ulcp/classify.h).
 */
#ifndef PP_REPLAY_REVERSE_FINDER_H
#define PP_REPLAY_REVERSE_FINDER_H

#include "analysis/pass.h"
#include "replay/reverse/lines.h"
#include "replay/reverse/order.h"

/* The kinds of events that the finder needs. */
unsigned pp_reversal_kinds(void);

/* Two sections, in the recorded order. */
struct pp_reversal_pair {
	struct pp_reversal_end first, second;
	GArray *lines; /* lines.h */
};

/* All pairs that are entered at these two calls, in either order. */
struct pp_reversal_sites {
	char *lock; /* name of the lock of the first pair */
	enum gm_sync_type type;
	char *names[2];	       /* of the calls */
	uint64_t n_conflicts;  /* pairs that conflict by writes that are not redundant */
	uint64_t n_candidates; /* ... of which the order may not matter */
	GPtrArray *samples;    /* of struct pp_reversal_pair *: candidates, at random */
};

struct pp_reversal_finder;

/* n_samples: for each pair of sites. The context is borrowed. */
struct pp_reversal_finder *pp_reversal_finder_new(const struct pp_pass_context *context,
						  unsigned n_samples);
void pp_reversal_finder_free(struct pp_reversal_finder *finder);

/* The event has ended that operation of its thread (replay/live/schedule.h); UINT64_MAX: none. */
void pp_reversal_finder_event(struct pp_reversal_finder *finder, const struct pp_event *event,
			      uint64_t op);

/*
 * After all events: an array of struct pp_reversal_sites *, those with most candidates first. The
 * caller unrefs it.
 */
GPtrArray *pp_reversal_finder_finish(struct pp_reversal_finder *finder);

/* After that: the number of sections, and of those whose accesses are not known, or not all. */
uint64_t pp_reversal_finder_sections(const struct pp_reversal_finder *finder,
				     uint64_t *ret_unknown);

#endif
