/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a budget is exceeded, so that noise alone does not fail a build.
 *
 * The limit is the bound; for a change, it is A's mean times (1 + bound), or plus the bound.  A
 * mean of B up to the limit meets the budget.  A greater one exceeds it only if it is beyond the
 * limit by more than the margin: the one-sided test of Welch at 2.5 % (B against A; for a bound of
 * B itself, Student's test of one sample).  So of runs whose true mean is the limit, at most 2.5 %
 * are found to exceed it, if their values are distributed normally.
 *
 * With a single capture of A or B, nothing is known about noise: then each excess counts.
 */
#ifndef PP_BUDGET_VERDICT_H
#define PP_BUDGET_VERDICT_H

#include "budget/budget.h"
#include "statistics/spread.h"

enum pp_budget_verdict {
	PP_BUDGET_EXCEEDED,
	PP_BUDGET_NOT_MEASURED,
	PP_BUDGET_WITHIN_NOISE, /* above the limit, but not by more than the margin */
	PP_BUDGET_MET,
	PP_N_BUDGET_VERDICTS
};

/* Also in JSON: "exceeded", "not measured", "within noise", "met". */
extern const char *const pp_budget_verdicts[PP_N_BUDGET_VERDICTS];

struct pp_budget_result {
	const struct pp_budget *budget;
	enum pp_budget_verdict verdict;
	enum pp_budget_unit unit; /* of all values: PP_BUDGET_PERCENT for shares */
	struct pp_spread a, b;	  /* a.n = 0: A is not needed */
	double limit;
	double over;	 /* B's mean - limit */
	double margin;	 /* 0 if the values do not vary */
	bool has_margin; /* false: one capture of a side, so noise is unknown */
	char *why;	 /* PP_BUDGET_NOT_MEASURED: the reason; owned */
};

/*
 * Judges a budget by the values of the captures of A and B, one at least of each.  `names_a` and
 * `names_b` have their names for reasons.  The caller calls pp_budget_result_done().
 */
void pp_budget_judge(const struct pp_budget *budget, const struct pp_budget_value *a, guint n_a,
		     const char *const *names_a, const struct pp_budget_value *b, guint n_b,
		     const char *const *names_b, struct pp_budget_result *ret);
void pp_budget_result_done(struct pp_budget_result *result);

#endif
