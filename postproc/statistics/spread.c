/* SPDX-License-Identifier: MIT */
/* Welford's method, which loses no digits if the values are large and close to each other. */
#include "statistics/spread.h"

#include <math.h>

struct pp_spread pp_spread_of(const double *values, size_t n)
{
	struct pp_spread spread = {.n = n, .least = INFINITY, .most = -INFINITY};
	double squares = 0;

	for (size_t i = 0; i < n; i++) {
		double past = values[i] - spread.mean;

		spread.mean += past / (double)(i + 1);
		squares += past * (values[i] - spread.mean);
		spread.least = fmin(spread.least, values[i]);
		spread.most = fmax(spread.most, values[i]);
		spread.n_nonzero += values[i] != 0;
	}
	spread.sigma = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
	return spread;
}
