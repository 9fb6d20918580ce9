/* SPDX-License-Identifier: MIT */
/*
 * The gain by optimistic concurrency (paper 001, sections 2.2 and 2.3): formulas only.
 *
 * p_c: the probability that an instance would conflict with one other.  w: how many others would be
 * executed at the same time.
 */
#ifndef PP_ANALYSIS_OCC_GAIN_H
#define PP_ANALYSIS_OCC_GAIN_H

#include <stdbool.h>
#include <stdint.h>

/* p_conflict = 1 - (1 - p_c)^w. */
double pp_occ_p_conflict(double p_c, double w);

/*
 * p_conflict / (1 - p_conflict): how often an instance is repeated on average.  Infinite where
 * p_conflict is 1.
 */
double pp_occ_repeats(double p_c, double w);

/*
 * Wait' of a section and thread, not below 0.  n_holders: A * w, the holds for which it waited;
 * operation_ns: O, our own cost of an operation, in the measured times once for each acquisition,
 * release, and hold waited for.
 */
double pp_occ_wait(double wait_ns, double n_acquired, double n_holders, double operation_ns);

/* The part of E' for one section: A (w + 2) O. */
double pp_occ_overhead(double n_acquired, double n_holders, double operation_ns);

/*
 * The share of the thread's time in which the kernel wakes others, behind its releases of the
 * section's locks: n_releases while others waited, each of release_ns CPU time; at most 1 - f_wait.
 * The paper has no such time.
 */
double pp_occ_f_release(double n_releases, double release_ns, double execution_ns, double f_wait);

/*
 * speedup(c, t); f_saved: f_wait for the paper's figure, or f_wait + f_release.  0 where an
 * instance never succeeds.  Returns false if it is not finite: the thread did nothing but wait.
 */
bool pp_occ_speedup(double f_saved, double f_exec, double repeats, double *ret);

/* benefit(c, t): the share of the thread's time that is saved, not below 0. */
double pp_occ_benefit(double f_saved, double f_exec, double repeats);

/* Best-case speedup for an efficiency below 1. Returns false for others. */
bool pp_occ_best_case(double efficiency, double *ret);

#endif
