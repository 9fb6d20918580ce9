/* SPDX-License-Identifier: MIT */
/* Cells of a graph's tables as text and amounts; for dot.c and dot_kinds.c. */
#ifndef PP_RENDER_DOT_TABLE_H
#define PP_RENDER_DOT_TABLE_H

#include "table/table.h"

/* NULL: no such column, or the cell is missing. */
const struct pp_cell *pp_dot_cell(const struct pp_table *table, const struct pp_cell *row,
				  const char *key);
const char *pp_dot_text(const struct pp_table *table, const struct pp_cell *row, const char *key);

/* A count, or a time in ns; 0 where it is missing. */
uint64_t pp_dot_amount(const struct pp_table *table, const struct pp_cell *row, const char *key);

/* Is the last of these columns there?  False, too, without any. */
bool pp_dot_has(const struct pp_table *table, const struct pp_cell *row, const char *const *keys);

/* These cells with `between` them; `missing` for one that is, NULL: it is passed over. */
char *pp_dot_cells(const struct pp_table *table, const struct pp_cell *row, const char *const *keys,
		   const char *between, const char *missing);

/* What was left out, and how much that stood for. */
struct pp_dot_left {
	uint64_t edges, counted;
};

/* "left out: 3 arrows of less than 10, 12 switches in all"; the caller frees
 * them.  counted: what the count is of, "switches". */
char *pp_dot_thin_text(const struct pp_dot_left *left, uint64_t min_count, const char *edges,
		       const char *counted);
char *pp_dot_beyond_text(const struct pp_dot_left *left, unsigned top, const char *edges,
			 const char *counted);

#endif
