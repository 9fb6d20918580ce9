/* SPDX-License-Identifier: MIT */
/* Predicts the gain of each suggestion: replays the recorded runs with the change. */
#ifndef PP_CLI_SUGGEST_GAIN_H
#define PP_CLI_SUGGEST_GAIN_H

#include "cli/suggest/runs.h"
#include "suggest/patterns.h"

/*
 * Sets the gain of each suggestion: the mean over the runs without accesses, or else over all,
 * since recording accesses takes time.  Returns 0 or -errno.
 */
int pp_suggest_gains(const struct pp_suggest_runs *runs, const GPtrArray *suggestions,
		     struct pp_error *err);

/* The gain of all of them at once.  ret->why is the caller's to free.  Returns 0 or -errno. */
int pp_suggest_gain_together(const struct pp_suggest_runs *runs, const GPtrArray *suggestions,
			     struct pp_suggest_gain *ret, struct pp_error *err);

/* True if the times are those of runs that recorded accesses. */
bool pp_suggest_gain_is_slowed(const struct pp_suggest_runs *runs);

#endif
