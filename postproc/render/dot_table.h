/* SPDX-License-Identifier: MIT */
/* Texts and amounts from the cells of a graph's tables, for dot.c and dot_kinds.c. */
#ifndef PP_RENDER_DOT_TABLE_H
#define PP_RENDER_DOT_TABLE_H

#include "table/table.h"

/* NULL if there is no such column, or the cell is missing. */
const struct pp_cell *pp_dot_cell(const struct pp_table *table, const struct pp_cell *row,
				  const char *key);
const char *pp_dot_text(const struct pp_table *table, const struct pp_cell *row, const char *key);

/* A count, or a time in ns; 0 if missing. */
uint64_t pp_dot_amount(const struct pp_table *table, const struct pp_cell *row, const char *key);

/* True if the last of these columns has a value; false if the list is empty. */
bool pp_dot_has(const struct pp_table *table, const struct pp_cell *row, const char *const *keys);

/*
 * The cells' texts, joined by `between`. A missing cell is shown as `missing`, or skipped if that
 * is NULL.  The caller frees the text.
 */
char *pp_dot_cells(const struct pp_table *table, const struct pp_cell *row, const char *const *keys,
		   const char *between, const char *missing);

/* The number of edges left out, and the sum of their counts. */
struct pp_dot_left {
	uint64_t edges, counted;
};

/*
 * "left out: 3 arrows of less than 10, 12 switches in all". counted: the unit of counts,
 * "switches".  The caller frees the text.
 */
char *pp_dot_thin_text(const struct pp_dot_left *left, uint64_t min_count, const char *edges,
		       const char *counted);
char *pp_dot_beyond_text(const struct pp_dot_left *left, unsigned top, const char *edges,
			 const char *counted);

#endif
