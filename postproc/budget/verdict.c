/* SPDX-License-Identifier: MIT */
/* Means, standard deviations, and Welch's test with A's values scaled to the limit. */
#include "budget/verdict.h"

#include <math.h>

const char *const pp_budget_verdicts[PP_N_BUDGET_VERDICTS] = {
    [PP_BUDGET_EXCEEDED] = "exceeded",
    [PP_BUDGET_NOT_MEASURED] = "not measured",
    [PP_BUDGET_WITHIN_NOISE] = "within noise",
    [PP_BUDGET_MET] = "met",
};

/* --- the values of a side ------------------------------------------------------------------- */

/* Why a side has no value; NULL: it has one. */
static char *why_unknown(const struct pp_budget *budget, const char *side,
			 const struct pp_budget_value *values, guint n, const char *const *names)
{
	guint n_absent = 0;

	for (guint i = 0; i < n; i++) {
		if (values[i].known == PP_BUDGET_UNKNOWN)
			return g_strdup_printf("%s: %s", names[i], values[i].why);
		n_absent += values[i].known == PP_BUDGET_ABSENT;
	}
	if (n_absent < n)
		return NULL;
	return g_strdup_printf("%s has no %s '%s'; remove the budget if that is intended", side,
			       pp_budget_name_kind(budget->quantity->name), budget->name);
}

/* A capture without the name has 0, since another one of its side has it. */
static struct pp_spread spread_of(const struct pp_budget *budget,
				  const struct pp_budget_value *values, guint n)
{
	bool is_share = budget->is_percentage && !budget->is_change;
	g_autofree double *numbers = g_new0(double, n);

	for (guint i = 0; i < n; i++)
		if (values[i].known == PP_BUDGET_KNOWN)
			numbers[i] = is_share ? values[i].share : values[i].value;
	return pp_spread_of(numbers, n);
}

/* --- the test ------------------------------------------------------------------------------- */

/* The variance of a sample's mean. */
static double mean_variance(const struct pp_spread *spread)
{
	return spread->sigma * spread->sigma / (double)spread->n;
}

/* Welch and Satterthwaite's degrees of freedom of a sum of two variances. */
static double freedom_of(double b, size_t n_b, double a, size_t n_a)
{
	double parts = b * b / (double)(n_b - 1);

	if (n_a > 1)
		parts += a * a / (double)(n_a - 1);
	return MAX((a + b) * (a + b) / parts, 1);
}

static void set_margin(struct pp_budget_result *result, double factor)
{
	bool needs_a = result->budget->is_change;
	double of_a = needs_a ? factor * factor * mean_variance(&result->a) : 0;
	double of_b = mean_variance(&result->b);

	result->has_margin = result->b.n > 1 && (!needs_a || result->a.n > 1);
	if (result->has_margin && of_a + of_b > 0)
		result->margin =
		    sqrt(of_a + of_b) *
		    pp_student_975(freedom_of(of_b, result->b.n, of_a, needs_a ? result->a.n : 0));
}

static void set_verdict(struct pp_budget_result *result)
{
	const struct pp_budget *budget = result->budget;
	double factor = budget->is_change && budget->is_percentage ? 1 + budget->bound / 100 : 1;

	result->limit = !budget->is_change	? budget->bound
			: budget->is_percentage ? factor * result->a.mean
						: result->a.mean + budget->bound;
	result->over = result->b.mean - result->limit;
	set_margin(result, factor);
	if (result->over <= 0)
		result->verdict = PP_BUDGET_MET;
	else if (result->has_margin && result->over <= result->margin)
		result->verdict = PP_BUDGET_WITHIN_NOISE;
	else
		result->verdict = PP_BUDGET_EXCEEDED;
}

void pp_budget_judge(const struct pp_budget *budget, const struct pp_budget_value *a, guint n_a,
		     const char *const *names_a, const struct pp_budget_value *b, guint n_b,
		     const char *const *names_b, struct pp_budget_result *ret)
{
	*ret = (struct pp_budget_result){
	    .budget = budget,
	    .verdict = PP_BUDGET_NOT_MEASURED,
	    .unit = budget->is_percentage && !budget->is_change ? PP_BUDGET_PERCENT
								: budget->quantity->unit,
	    .why = why_unknown(budget, "B", b, n_b, names_b),
	};
	if (!ret->why && budget->is_change)
		ret->why = why_unknown(budget, "A", a, n_a, names_a);
	if (ret->why)
		return;
	ret->b = spread_of(budget, b, n_b);
	g_autofree char *of_a = why_unknown(budget, "A", a, n_a, names_a);

	/* A bound of B itself does not need A, but shows it beside B. */
	if (!of_a)
		ret->a = spread_of(budget, a, n_a);
	set_verdict(ret);
}

void pp_budget_result_done(struct pp_budget_result *result)
{
	g_free(result->why);
	*result = (struct pp_budget_result){0};
}
