/* SPDX-License-Identifier: MIT */
/*
 * Two laws of scalability, fitted to run times of the same work with n threads (or CPUs):
 *
 *   Amdahl      T(n) = T1 (1 + s (n - 1)) / n                    s: serial share
 *   Universal   T(n) = T1 (1 + s (n - 1) + k n (n - 1)) / n      s: contention, k: coherency
 *
 * T1, T1 s and T1 k are found by linear least squares over all runs, with none of them below 0.
 * Each run is weighted by 1 / m(n)^2, where m(n) is the mean of the runs with n: it is the relative
 * error that is minimized, since otherwise only the slowest runs would matter.
 *
 * The confidence intervals are percentiles (2.5 and 97.5) of PP_SCALING_RESAMPLES fits to runs
 * drawn with replacement from those of each n (bootstrap).  The seed of the random numbers is
 * fixed.  They tell how far the runs determine the parameters, and not whether the law holds.
 */
#ifndef PP_STATISTICS_SCALING_H
#define PP_STATISTICS_SCALING_H

#include <stdbool.h>
#include <stddef.h>

#define PP_SCALING_RESAMPLES 2000

enum pp_scaling_law { PP_AMDAHL, PP_UNIVERSAL, PP_N_SCALING_LAWS };

/* A run. */
struct pp_scaling_run {
	double n;    /* threads, or CPUs; at least 1 */
	double time; /* above 0, in any unit */
};

struct pp_estimate {
	double value, low, high;
};

struct pp_scaling_fit {
	struct pp_estimate t1, serial, coherency; /* coherency: 0 for Amdahl's law */
	double error;				  /* root mean square of the relative errors of the
						     mean of each n */
	size_t n_steps;				  /* different n */
};

/* False if there are fewer different n than the law has parameters: 2 and 3. */
bool pp_scaling_fit(enum pp_scaling_law law, const struct pp_scaling_run *runs, size_t n_runs,
		    struct pp_scaling_fit *ret);

/*
 * The run time by the law for each of the numbers, with its confidence interval.  False in the same
 * cases.
 */
bool pp_scaling_curve(enum pp_scaling_law law, const struct pp_scaling_run *runs, size_t n_runs,
		      const double *numbers, size_t n_numbers, struct pp_estimate *ret);

/* The run time by the law. */
double pp_scaling_time(const struct pp_scaling_fit *fit, double n);

/*
 * The n with the greatest speedup, by the universal law: sqrt((1 - s) / k).  Infinity if the
 * coherency is 0.
 */
double pp_scaling_peak(const struct pp_scaling_fit *fit);

#endif
