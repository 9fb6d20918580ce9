/* SPDX-License-Identifier: MIT */
/* The one-sided test of Mann and Whitney: are the values of one sample greater than another's? */
#ifndef PP_STATISTICS_RANK_SUM_H
#define PP_STATISTICS_RANK_SUM_H

#include <stddef.h>

/*
 * The most values in both samples together for the exact distribution.  It costs time in proportion
 * to the fourth power: 1 ms for 20 and 20 values.
 */
#define PP_RANK_SUM_EXACT 100

/*
 * The probability that U is as great as it is, or greater, if both samples come from the same
 * distribution.  U is the number of pairs in which the value of `after` is the greater one; equal
 * values count one half.
 *
 * Up to PP_RANK_SUM_EXACT values, it is that share of all ways to divide the values into two
 * samples of these sizes, also if values are equal.  Beyond, it is approximated by a normal
 * distribution, with the correction for equal values and that for continuity.  1 if a sample is
 * empty.
 */
double pp_rank_sum_greater(const double *after, size_t n_after, const double *before,
			   size_t n_before);

/* Both methods, for tests. */
double pp_rank_sum_exact(const double *after, size_t n_after, const double *before,
			 size_t n_before);
double pp_rank_sum_normal(const double *after, size_t n_after, const double *before,
			  size_t n_before);

#endif
