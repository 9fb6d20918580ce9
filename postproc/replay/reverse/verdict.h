/* SPDX-License-Identifier: MIT */
/*
 * Compares the digests of a pair of sections that was executed in both orders, several times each.
 *
 * They are a proof only if the runs can be compared: the state before the pair is the same in all
 * of them, and so is the state after it in all runs of one order.
 */
#ifndef PP_REPLAY_REVERSE_VERDICT_H
#define PP_REPLAY_REVERSE_VERDICT_H

#include <stdbool.h>

#include "sync-trace/schedule.h"

enum pp_reversal_verdict {
	PP_REVERSAL_SAME,      /* both orders leave the same values */
	PP_REVERSAL_DIFFERENT, /* they do not */
	PP_REVERSAL_ORDERED,   /* the second section cannot come first */
	PP_REVERSAL_STUCK,     /* a replay has not come so far */
	PP_REVERSAL_UNSTABLE,  /* the same order has different results */
	PP_REVERSAL_ELSEWHERE, /* the replay has the bytes at other addresses, or they are unread */
	PP_REVERSAL_N_VERDICTS
};

/* The outcome of a run in which the pair was executed. */
struct pp_reversal_run {
	struct st_schedule_digests digests;
	bool is_reversed; /* `first` and `second` of the digests are exchanged, as in the run */
	/* By the accesses recorded in the run: */
	bool has_bytes; /* the sections have met in the bytes of the sample: if not reversed, all */
	bool has_own;	/* each section has written all bytes that only it had written */
};

/* n: at least two of each order. */
enum pp_reversal_verdict pp_reversal_verdict(const struct pp_reversal_run *runs, unsigned n);

#endif
