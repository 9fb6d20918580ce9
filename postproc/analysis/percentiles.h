/* SPDX-License-Identifier: MIT */
/*
 * The distribution of durations: percentiles in memory that does not grow with the number of
 * durations.
 *
 * A log-linear histogram divides each power of two into 32 steps, and reports the middle of a step.
 * A percentile has an error below 1/64 (1.6 %), and none below 64 ns.
 *
 * A million locks may have a few durations each.  Up to PP_SPREAD_FEW durations need no allocation,
 * up to PP_SPREAD_LIST a list of their steps, more a histogram.
 */
#ifndef PP_ANALYSIS_PERCENTILES_H
#define PP_ANALYSIS_PERCENTILES_H

#include <stdint.h>

#define PP_SPREAD_FEW  4u
#define PP_SPREAD_LIST 32u

/* A zeroed structure is empty. */
struct pp_spread {
	union {
		uint16_t few[PP_SPREAD_FEW]; /* steps of the durations */
		uint16_t *list;
		uint64_t *counts; /* if n_steps is not 0: counts of steps, beginning with `first` */
	};
	unsigned first, n_steps;
	uint64_t n; /* number of durations */
	int64_t max_ns;
};

void pp_spread_add(struct pp_spread *spread, int64_t ns);
void pp_spread_merge(struct pp_spread *spread, const struct pp_spread *other);

/* The smallest duration that `percent` of the durations do not exceed, in ns; n must not be 0. */
int64_t pp_spread_percentile(const struct pp_spread *spread, unsigned percent);

/* Frees the allocations. */
void pp_spread_done(struct pp_spread *spread);

#endif
