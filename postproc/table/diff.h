/* SPDX-License-Identifier: MIT */
/*
 * Compares the tables of two runs row by row.
 *
 * Rows are matched by their keys (PP_COLUMN_KEY), which are the same in each run, never by ids.
 * Rows of one run with the same keys (thirty threads of one name, ten locks created at one line)
 * are combined: figures are added up, maxima are maximized, and means or percentages become
 * unknown.  Missing values stay missing: a figure has a change only if both runs have it, and a
 * ratio only if A's value is not 0.
 *
 * The result has the keys, "in" (both, only A, only B), "rows_a" and "rows_b" (the numbers of
 * combined rows), and for each figure wait_ns: "wait_ns_a", "wait_ns_b", "wait_ns_change", and for
 * amounts "wait_ns_ratio", B divided by A.
 */
#ifndef PP_TABLE_DIFF_H
#define PP_TABLE_DIFF_H

#include "table/table.h"

struct pp_diff_options {
	double min_change_pct; /* omit rows whose main figure changed by less */
	unsigned top;	       /* maximum number of rows; 0: all */
	bool changed_only;     /* omit rows without any change */
	bool no_lines;	       /* ignore line numbers: "main (a.c:12)" equals "main (a.c:13)" */
};

/*
 * Adds the comparison to `tables`, which owns it, rows with the largest change of the main figure
 * first.  For a table with one row and without keys, also adds a list for text output.  Adds
 * nothing if there are no figures.  The tables must not be nested; one may be NULL if the run has
 * no such table.
 */
void pp_table_diff(const struct pp_table *a, const struct pp_table *b,
		   const struct pp_diff_options *options, GPtrArray *tables);

#endif
