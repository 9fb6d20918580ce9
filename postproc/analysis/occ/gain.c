/* SPDX-License-Identifier: MIT */
/* See gain.h. */
#include "analysis/occ/gain.h"

#include <math.h>

double pp_occ_p_conflict(double p_c, double w)
{
	return 1 - pow(1 - p_c, w);
}

/* Not p / (1 - p): for large w, p is rounded to 1 long before this is infinite. */
double pp_occ_repeats(double p_c, double w)
{
	return pow(1 - p_c, -w) - 1;
}

double pp_occ_overhead(double n_acquired, double n_holders, double operation_ns)
{
	return (n_holders + 2 * n_acquired) * operation_ns;
}

double pp_occ_wait(double wait_ns, double n_acquired, double n_holders, double operation_ns)
{
	return fmax(wait_ns - pp_occ_overhead(n_acquired, n_holders, operation_ns), 0);
}

double pp_occ_f_release(double n_releases, double release_ns, double execution_ns, double f_wait)
{
	return fmin(n_releases * release_ns / execution_ns, 1 - f_wait);
}

/* 0 * infinity: a section that takes no time may be repeated without end. */
static double repeated(double f_exec, double repeats)
{
	return f_exec > 0 ? f_exec * repeats : 0;
}

bool pp_occ_speedup(double f_saved, double f_exec, double repeats, double *ret)
{
	double part = 1 + repeated(f_exec, repeats) - f_saved;

	if (!(part > 0))
		return false;
	*ret = 1 / part;
	return true;
}

double pp_occ_benefit(double f_saved, double f_exec, double repeats)
{
	return fmax(f_saved - repeated(f_exec, repeats), 0);
}

bool pp_occ_best_case(double efficiency, double *ret)
{
	if (!(efficiency < 1))
		return false;
	*ret = 1 / (1 - efficiency);
	return true;
}
