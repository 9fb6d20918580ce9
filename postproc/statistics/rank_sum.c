/* SPDX-License-Identifier: MIT */
/*
 * Equal values get the mean of their ranks, so ranks are counted in halves to be whole numbers.
 *
 * The exact distribution counts the subsets of n_after values with each sum of ranks: value by
 * value, a subset of k values with the sum s either contains the value or not.  Only positive
 * numbers are added, so doubles are exact enough also where counts exceed 2^53.
 */
#include "statistics/rank_sum.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <glib.h>

struct ranked {
	double value;
	bool is_after;
	size_t half_rank; /* twice the rank */
};

struct ranks {
	struct ranked *all;
	size_t n, n_after;
	size_t half_sum; /* of `after` */
	double ties;	 /* the sum of t^3 - t over groups of t equal values */
};

static int by_value(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;

	return x < y ? -1 : x > y;
}

static void ranks_init(struct ranks *ranks, const double *after, size_t n_after,
		       const double *before, size_t n_before)
{
	size_t n = n_after + n_before;

	*ranks = (struct ranks){g_new(struct ranked, n), n, n_after, 0, 0};
	for (size_t i = 0; i < n; i++)
		ranks->all[i] =
		    (struct ranked){i < n_after ? after[i] : before[i - n_after], i < n_after, 0};
	qsort(ranks->all, n, sizeof(*ranks->all), by_value);
	for (size_t i = 0, end; i < n; i = end) {
		double equal;

		for (end = i + 1; end < n && ranks->all[end].value == ranks->all[i].value; end++)
			;
		equal = (double)(end - i);
		ranks->ties += equal * equal * equal - equal;
		for (size_t j = i; j < end; j++) {
			/* The mean of the ranks i + 1 to end. */
			ranks->all[j].half_rank = i + 1 + end;
			if (ranks->all[j].is_after)
				ranks->half_sum += ranks->all[j].half_rank;
		}
	}
}

/* The share of subsets whose sum is at least that of `after`. */
static double share_of_subsets(const struct ranks *ranks)
{
	size_t most = ranks->n * (ranks->n + 1), width = most + 1, reached = 0;
	g_autofree double *counts = g_new0(double, (ranks->n_after + 1) * width);
	double all = 0, greater = 0;

	counts[0] = 1;
	for (size_t i = 0; i < ranks->n; i++) {
		size_t rank = ranks->all[i].half_rank;

		for (size_t k = MIN(i + 1, ranks->n_after); k > 0; k--)
			for (size_t sum = 0; sum <= reached; sum++)
				counts[k * width + sum + rank] += counts[(k - 1) * width + sum];
		reached += rank;
	}
	for (size_t sum = 0; sum <= most; sum++) {
		double n = counts[ranks->n_after * width + sum];

		all += n;
		greater += sum >= ranks->half_sum ? n : 0;
	}
	return greater / all;
}

double pp_rank_sum_exact(const double *after, size_t n_after, const double *before, size_t n_before)
{
	struct ranks ranks;
	double p;

	if (!n_after || !n_before)
		return 1;
	ranks_init(&ranks, after, n_after, before, n_before);
	p = share_of_subsets(&ranks);
	g_free(ranks.all);
	return p;
}

double pp_rank_sum_normal(const double *after, size_t n_after, const double *before,
			  size_t n_before)
{
	double a = (double)n_after, b = (double)n_before, n = a + b, u, variance;
	struct ranks ranks;

	if (!n_after || !n_before)
		return 1;
	ranks_init(&ranks, after, n_after, before, n_before);
	u = (double)ranks.half_sum / 2 - a * (a + 1) / 2;
	variance = a * b / 12 * (n + 1 - ranks.ties / (n * (n - 1)));
	g_free(ranks.all);
	if (variance <= 0)
		return 1; /* all values are equal */
	return 0.5 * erfc((u - a * b / 2 - 0.5) / sqrt(2 * variance));
}

double pp_rank_sum_greater(const double *after, size_t n_after, const double *before,
			   size_t n_before)
{
	return n_after + n_before <= PP_RANK_SUM_EXACT
		   ? pp_rank_sum_exact(after, n_after, before, n_before)
		   : pp_rank_sum_normal(after, n_after, before, n_before);
}
