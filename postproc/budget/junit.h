/* SPDX-License-Identifier: MIT */
/* The results of budgets as XML for servers that build and test programs. */
#ifndef PP_BUDGET_JUNIT_H
#define PP_BUDGET_JUNIT_H

#include <glib.h>

/*
 * Appends a document that readers of JUnit's results understand: a test case per budget, with a
 * failure if it is exceeded, and an error if it was not measured.  It is well-formed whatever bytes
 * names contain.
 */
void pp_budget_append_junit(GString *to, const GArray *results);

#endif
