/* SPDX-License-Identifier: MIT */
/*
 * How durations are spread: enough to tell which one a given share of them does not exceed, in
 * memory that does not grow with their number.
 *
 * A log-linear histogram: each power of two is cut into 32 steps, and a step is named by its
 * middle. So a percentile is less than 1/64 (1.6 %) off, and exact below 64 ns.
 *
 * There may be one for each of a million locks, with a few durations each: up to PP_SPREAD_FEW it
 * allocates nothing, up to PP_SPREAD_LIST a list of their steps, and then the histogram.
 */
#ifndef PP_ANALYSIS_SPREAD_H
#define PP_ANALYSIS_SPREAD_H

#include <stdint.h>

#define PP_SPREAD_FEW  4u
#define PP_SPREAD_LIST 32u

/* Zeroed, it is empty. */
struct pp_spread {
	union {
		uint16_t few[PP_SPREAD_FEW]; /* their steps */
		uint16_t *list;
		uint64_t *counts; /* if n_steps is not 0: of the steps from `first` on */
	};
	unsigned first, n_steps;
	uint64_t n; /* durations in all */
	int64_t max_ns;
};

void pp_spread_add(struct pp_spread *spread, int64_t ns);
void pp_spread_merge(struct pp_spread *spread, const struct pp_spread *other);

/* So many percent of the durations are no longer; n must not be 0. */
int64_t pp_spread_percentile(const struct pp_spread *spread, unsigned percent);

/* What it has allocated. */
void pp_spread_done(struct pp_spread *spread);

#endif
