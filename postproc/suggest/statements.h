/* SPDX-License-Identifier: MIT */
/* The statements of C and C++ in lines of a source file. */
#ifndef PP_SUGGEST_STATEMENTS_H
#define PP_SUGGEST_STATEMENTS_H

#include <stdbool.h>

#include <glib.h>

struct pp_suggest_statement {
	int first, last; /* lines */
	bool jumps;	 /* it may leave the code around it: by return, goto, throw, break */
};

/*
 * Returns the statements (of struct pp_suggest_statement) that begin in the lines from `from` to
 * `to`, in order, none within another one.  Statements with a line in common are one.  A loop that
 * is a macro ends with the statement behind it.  Macros are not expanded, and both parts of an #if
 * are read.  The caller unrefs the array.
 */
GArray *pp_suggest_statements(const char *text, int from, int to);

#endif
