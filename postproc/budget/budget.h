/* SPDX-License-Identifier: MIT */
/* clang-format off */
/*
 * Budgets: upper bounds of figures of a run, or of their change.  In text:
 *
 *   QUANTITY [NAME] < BOUND      ('<=' means the same: the bound itself is met)
 *
 *   blame of LOCK < 5 %          a share: of the threads' lifetimes (quantity.c has the wholes)
 *   waits for LOCK < 10 ms       B itself, in s, ms, us or ns
 *   calls of FUNCTION < 1000     ... or a count
 *   run time < +3 %              the change from A to B, in percent of A
 *   waits for LOCK < +10 ms      ... or in the unit
 *   CPU time < -5 %              it must fall
 *
 * Names may contain any character; the last '<' of a budget is the one before its bound.
 */
/* clang-format on */
#ifndef PP_BUDGET_BUDGET_H
#define PP_BUDGET_BUDGET_H

#include "budget/quantity.h"
#include "core/error.h"

struct pp_budget {
	char *text; /* as it was given, without blanks around it */
	const struct pp_budget_quantity *quantity;
	char *name;	    /* of an object, function or thread; NULL: the quantity has none */
	bool is_change;	    /* the bound is for the change from A to B */
	bool is_percentage; /* ... in percent of A; without is_change: of the quantity's whole */
	double bound;	    /* in percent, or in the quantity's unit */
};

/* Returns NULL after an error. */
struct pp_budget *pp_budget_parse(const char *text, struct pp_error *err);
void pp_budget_free(void *budget);

/*
 * Parses a file with a budget per line, and appends the budgets to `budgets`.  Empty lines and
 * those that begin with # are comments.  Adds an error line (char *) to `errors` for each line that
 * is wrong.  Returns 0, or -errno if the file cannot be read.
 */
int pp_budget_read_file(const char *path, GPtrArray *budgets, GPtrArray *errors,
			struct pp_error *err);

#endif
