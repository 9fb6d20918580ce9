/* SPDX-License-Identifier: MIT */
/* Mean and standard deviation of a sample. */
#ifndef PP_STATISTICS_SPREAD_H
#define PP_STATISTICS_SPREAD_H

#include <stddef.h>

struct pp_spread {
	double mean;
	double sigma; /* of a sample: divided by n - 1; 0 for a single value */
	double least, most;
	size_t n, n_nonzero;
};

/* Without values, everything is 0, and `least` is greater than `most`. */
struct pp_spread pp_spread_of(const double *values, size_t n);

/* The 97.5 % quantile of Student's distribution; 1.96 for many degrees of freedom (at least 1). */
double pp_student_975(double freedom);

#endif
