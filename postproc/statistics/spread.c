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

double pp_student_975(double freedom)
{
	/* where the series below is off by more than 0.2 % */
	static const double small[] = {12.706, 4.303, 3.182, 2.776};
	const double z = 1.959964, d = freedom;

	if (d <= 4)
		return small[(int)d - 1];
	/* Cornish and Fisher's expansion */
	return z + (pow(z, 3) + z) / (4 * d) +
	       (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * d * d) +
	       (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * d * d * d);
}
