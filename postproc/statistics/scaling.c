/* SPDX-License-Identifier: MIT */
/*
 * Runs are grouped by n.  Since the law is the same for all runs of a group, and their weights are
 * equal, the fit depends only on the mean and the number of runs of each group.
 */
#include "statistics/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#define MAX_PARAMETERS 3
#define SEED	       20170116

/* The runs with the same n. */
struct step {
	double n, mean;
	const struct pp_scaling_run *runs;
	size_t n_runs;
};

/* T(n) = sum of parameters[i] * basis[i]: T1, T1 s, T1 k. */
static void set_basis(double n, double basis[MAX_PARAMETERS])
{
	basis[0] = 1 / n;
	basis[1] = (n - 1) / n;
	basis[2] = n - 1;
}

static double time_at(const double parameters[MAX_PARAMETERS], double n)
{
	double basis[MAX_PARAMETERS], time = 0;

	set_basis(n, basis);
	for (unsigned i = 0; i < MAX_PARAMETERS; i++)
		time += parameters[i] * basis[i];
	return time;
}

static unsigned n_parameters(enum pp_scaling_law law)
{
	return law == PP_AMDAHL ? 2 : 3;
}

/* Solves a x = b by elimination with pivots.  False if the matrix is singular. */
static bool solve(unsigned n, double a[MAX_PARAMETERS][MAX_PARAMETERS], double b[MAX_PARAMETERS])
{
	for (unsigned i = 0; i < n; i++) {
		unsigned pivot = i;

		for (unsigned row = i + 1; row < n; row++)
			if (fabs(a[row][i]) > fabs(a[pivot][i]))
				pivot = row;
		if (fabs(a[pivot][i]) < 1e-12)
			return false;
		for (unsigned j = 0; j < n; j++) {
			double other = a[i][j];

			a[i][j] = a[pivot][j];
			a[pivot][j] = other;
		}
		double other = b[i];

		b[i] = b[pivot];
		b[pivot] = other;
		for (unsigned row = 0; row < n; row++) {
			double factor = a[row][i] / a[i][i];

			if (row == i)
				continue;
			for (unsigned j = i; j < n; j++)
				a[row][j] -= factor * a[i][j];
			b[row] -= factor * b[i];
		}
	}
	for (unsigned i = 0; i < n; i++)
		b[i] /= a[i][i];
	return true;
}

/* The sum of squared relative errors. */
static double squares(const struct step *steps, size_t n_steps,
		      const double parameters[MAX_PARAMETERS])
{
	double sum = 0;

	for (size_t i = 0; i < n_steps; i++) {
		double time = time_at(parameters, steps[i].n);

		sum += (double)steps[i].n_runs * pow(time / steps[i].mean - 1, 2);
	}
	return sum;
}

/* Least squares with the parameters in the set `used` (bits); the others are 0. */
static bool fit_used(unsigned used, const struct step *steps, size_t n_steps,
		     double parameters[MAX_PARAMETERS])
{
	double a[MAX_PARAMETERS][MAX_PARAMETERS] = {0}, b[MAX_PARAMETERS] = {0};
	unsigned at[MAX_PARAMETERS], n = 0;

	for (unsigned i = 0; i < MAX_PARAMETERS; i++)
		if (used & 1U << i)
			at[n++] = i;
	for (size_t s = 0; s < n_steps; s++) {
		double basis[MAX_PARAMETERS], runs = (double)steps[s].n_runs;

		set_basis(steps[s].n, basis);
		for (unsigned i = 0; i < n; i++) {
			double x = basis[at[i]] / steps[s].mean;

			b[i] += runs * x;
			for (unsigned j = 0; j < n; j++)
				a[i][j] += runs * x * basis[at[j]] / steps[s].mean;
		}
	}
	/* All entries in the unit of a share: the elimination compares them with 1. */
	for (unsigned i = 0; i < n; i++) {
		b[i] *= steps[0].mean;
		for (unsigned j = 0; j < n; j++)
			a[i][j] *= steps[0].mean * steps[0].mean;
	}
	if (!solve(n, a, b))
		return false;
	memset(parameters, 0, MAX_PARAMETERS * sizeof(*parameters));
	for (unsigned i = 0; i < n; i++)
		parameters[at[i]] = b[i] * steps[0].mean;
	return true;
}

/*
 * The best fit without negative parameters: of all sets of parameters, the one with the smallest
 * error.  There are at most seven.
 */
static bool fit(enum pp_scaling_law law, const struct step *steps, size_t n_steps,
		double parameters[MAX_PARAMETERS])
{
	double best = INFINITY;

	for (unsigned used = 1; used < 1U << n_parameters(law); used++) {
		double tried[MAX_PARAMETERS], error;
		bool is_valid = fit_used(used, steps, n_steps, tried);

		for (unsigned i = 0; is_valid && i < MAX_PARAMETERS; i++)
			is_valid = tried[i] >= 0;
		/* T1 is the scale of the other two. */
		if (!is_valid || tried[0] <= 0)
			continue;
		error = squares(steps, n_steps, tried);
		if (error < best) {
			best = error;
			memcpy(parameters, tried, sizeof(tried));
		}
	}
	return best < INFINITY;
}

/* --- bootstrap ------------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void resample(const struct step *steps, size_t n_steps, GRand *rand, struct step *ret)
{
	for (size_t i = 0; i < n_steps; i++) {
		double sum = 0;

		for (size_t j = 0; j < steps[i].n_runs; j++)
			sum +=
			    steps[i].runs[g_rand_int_range(rand, 0, (gint32)steps[i].n_runs)].time;
		ret[i] = steps[i];
		ret[i].mean = sum / (double)steps[i].n_runs;
	}
}

/* The percentile by linear interpolation between the two nearest values. */
static double percentile(const double *sorted, size_t n, double share)
{
	double at = share * (double)(n - 1);
	size_t below = (size_t)at;

	return below + 1 < n
		   ? sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below])
		   : sorted[below];
}

static void set_interval(struct pp_estimate *estimate, double *values, size_t n)
{
	estimate->low = estimate->high = estimate->value;
	if (!n)
		return;
	qsort(values, n, sizeof(*values), by_number);
	estimate->low = percentile(values, n, 0.025);
	estimate->high = percentile(values, n, 0.975);
}

/* The parameters of fits to drawn runs: PP_SCALING_RESAMPLES at most.  Returns their number. */
static size_t draw_fits(enum pp_scaling_law law, const struct step *steps, size_t n_steps,
			double (*ret)[MAX_PARAMETERS])
{
	g_autofree struct step *drawn = g_new(struct step, n_steps);
	GRand *rand = g_rand_new_with_seed(SEED);
	size_t n = 0;

	for (size_t i = 0; i < PP_SCALING_RESAMPLES; i++) {
		resample(steps, n_steps, rand, drawn);
		n += fit(law, drawn, n_steps, ret[n]);
	}
	g_rand_free(rand);
	return n;
}

static double *new_fits(void)
{
	return g_new(double, MAX_PARAMETERS *PP_SCALING_RESAMPLES);
}

static void add_confidence(enum pp_scaling_law law, const struct step *steps, size_t n_steps,
			   struct pp_scaling_fit *ret)
{
	g_autofree double *values = new_fits(), *all = new_fits();
	double(*fits)[MAX_PARAMETERS] = (void *)all;
	double *t1 = values, *serial = t1 + PP_SCALING_RESAMPLES;
	double *coherency = serial + PP_SCALING_RESAMPLES;
	size_t n = draw_fits(law, steps, n_steps, fits);

	for (size_t i = 0; i < n; i++) {
		t1[i] = fits[i][0];
		serial[i] = fits[i][1] / fits[i][0];
		coherency[i] = fits[i][2] / fits[i][0];
	}
	set_interval(&ret->t1, t1, n);
	set_interval(&ret->serial, serial, n);
	set_interval(&ret->coherency, coherency, n);
}

/* -------------------------------------------------------------------------------------------- */

static int by_n(const void *a, const void *b)
{
	return by_number(&((const struct pp_scaling_run *)a)->n,
			 &((const struct pp_scaling_run *)b)->n);
}

/* Sorts the runs, and returns the number of steps. */
static size_t make_steps(struct pp_scaling_run *runs, size_t n_runs, struct step *steps)
{
	size_t n_steps = 0;

	if (!n_runs)
		return 0;
	qsort(runs, n_runs, sizeof(*runs), by_n);
	for (size_t i = 0; i < n_runs; i++) {
		struct step *step;

		if (!n_steps || steps[n_steps - 1].n != runs[i].n)
			steps[n_steps++] = (struct step){runs[i].n, 0, &runs[i], 0};
		step = &steps[n_steps - 1];
		step->mean += (runs[i].time - step->mean) / (double)++step->n_runs;
	}
	return n_steps;
}

bool pp_scaling_fit(enum pp_scaling_law law, const struct pp_scaling_run *runs, size_t n_runs,
		    struct pp_scaling_fit *ret)
{
	g_autofree struct pp_scaling_run *sorted = g_memdup2(runs, n_runs * sizeof(*runs));
	g_autofree struct step *steps = g_new(struct step, n_runs + 1);
	size_t n_steps = make_steps(sorted, n_runs, steps);
	double parameters[MAX_PARAMETERS], sum = 0;

	if (n_steps < n_parameters(law) || !fit(law, steps, n_steps, parameters))
		return false;
	*ret = (struct pp_scaling_fit){
	    .t1.value = parameters[0],
	    .serial.value = parameters[1] / parameters[0],
	    .coherency.value = parameters[2] / parameters[0],
	    .n_steps = n_steps,
	};
	for (size_t i = 0; i < n_steps; i++)
		sum += pow(pp_scaling_time(ret, steps[i].n) / steps[i].mean - 1, 2);
	ret->error = sqrt(sum / (double)n_steps);
	add_confidence(law, steps, n_steps, ret);
	return true;
}

bool pp_scaling_curve(enum pp_scaling_law law, const struct pp_scaling_run *runs, size_t n_runs,
		      const double *numbers, size_t n_numbers, struct pp_estimate *ret)
{
	g_autofree struct pp_scaling_run *sorted = g_memdup2(runs, n_runs * sizeof(*runs));
	g_autofree struct step *steps = g_new(struct step, n_runs + 1);
	g_autofree double *all = new_fits(), *times = g_new(double, PP_SCALING_RESAMPLES);
	double(*fits)[MAX_PARAMETERS] = (void *)all;
	size_t n_steps = make_steps(sorted, n_runs, steps), n;
	double best[MAX_PARAMETERS];

	if (n_steps < n_parameters(law) || !fit(law, steps, n_steps, best))
		return false;
	n = draw_fits(law, steps, n_steps, fits);
	for (size_t at = 0; at < n_numbers; at++) {
		for (size_t i = 0; i < n; i++)
			times[i] = time_at(fits[i], numbers[at]);
		ret[at].value = time_at(best, numbers[at]);
		set_interval(&ret[at], times, n);
	}
	return true;
}

double pp_scaling_time(const struct pp_scaling_fit *fit, double n)
{
	return fit->t1.value *
	       (1 + fit->serial.value * (n - 1) + fit->coherency.value * n * (n - 1)) / n;
}

double pp_scaling_peak(const struct pp_scaling_fit *fit)
{
	if (fit->coherency.value <= 0)
		return INFINITY;
	return sqrt(fmax(1 - fit->serial.value, 0) / fit->coherency.value);
}
