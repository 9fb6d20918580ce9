/* SPDX-License-Identifier: MIT */
/* The results of budgets as a table, and in words. */
#ifndef PP_BUDGET_RESULTS_H
#define PP_BUDGET_RESULTS_H

#include "budget/verdict.h"

/*
 * The table "budgets": exceeded ones first, and of these the one with the largest excess in percent
 * of its limit first; then those not measured.  `results` is of struct pp_budget_result.  The
 * caller frees it.
 */
struct pp_table *pp_budget_table(const GArray *results);

/* The number of results with that verdict. */
guint pp_budget_count(const GArray *results, enum pp_budget_verdict verdict);

/* "B is 12.3 ms, 2.30 ms above the limit of 10.0 ms": the result in a sentence. The caller frees
 * it.
 */
char *pp_budget_sentence(const struct pp_budget_result *result);

#endif
