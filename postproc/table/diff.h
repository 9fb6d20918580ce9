/* SPDX-License-Identifier: MIT */
/*
 * Two runs' tables of one kind, compared row by row.
 *
 * A row is known again by its keys (PP_COLUMN_KEY), which are the same in any run, never by ids.
 * Rows of one run that have the same keys (thirty threads of one name, ten locks made at one line)
 * are taken together: figures are added up, of a longest time the longest is taken, and a mean or
 * a percentage is then not known.  What is missing stays missing: a figure has a change only where
 * both runs have it, and a ratio only where it was not 0.
 *
 * The result has the keys, "in" (both, only A, only B), "rows_a" and "rows_b" (how many were taken
 * together), and for each figure wait_ns: "wait_ns_a", "wait_ns_b", "wait_ns_change", and of
 * amounts "wait_ns_ratio", B by A.
 */
#ifndef PP_TABLE_DIFF_H
#define PP_TABLE_DIFF_H

#include "table/table.h"

struct pp_diff_options {
	double min_change_pct; /* rows are left out whose main figure changed by less */
	unsigned top;	       /* so many rows; 0: all */
	bool changed_only;     /* rows without any change are left out */
	bool no_lines;	       /* "main (a.c:12)" is the same as "main (a.c:13)" */
};

/*
 * Adds the table to `tables`, which owns it, rows with the largest change of the main figure first;
 * of a table without keys, which has one row, also one that people read from top to bottom. Nothing
 * if there is nothing to compare: no figures.  Tables without nested ones; one may be NULL: it is
 * not in that run.
 */
void pp_table_diff(const struct pp_table *a, const struct pp_table *b,
		   const struct pp_diff_options *options, GPtrArray *tables);

#endif
