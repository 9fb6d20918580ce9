/* SPDX-License-Identifier: MIT */
/*
 * Nested tables as tables of their own, for what has rows and columns alone: spreadsheets, SQL, and
 * the comparison of two runs.
 *
 * The rows of "sites" in the rows of "locks" become the table "locks.sites".  Each has, before its
 * own cells, the number of the row that it was in ("locks_row", from 1), and of that row what is a
 * key or an id ("locks_name").
 */
#ifndef PP_TABLE_FLAT_H
#define PP_TABLE_FLAT_H

#include "table/table.h"

/*
 * All that is in that column, which holds tables.  Its cells stay those of `table`, which has to
 * outlive it.  NULL: the column does not say what these have.
 */
struct pp_table *pp_table_nested(const struct pp_table *table, unsigned column);

struct pp_flat_tables {
	GPtrArray *all; /* of struct pp_table *: each table, and behind it what was nested in it */
	GPtrArray *nested; /* of these, those that were made for it */
};

/* Without those that are for text only. */
void pp_flat_tables_init(struct pp_flat_tables *flat, struct pp_table *const *tables,
			 unsigned n_tables);
void pp_flat_tables_done(struct pp_flat_tables *flat);

/* NULL: none of that key. */
struct pp_table *pp_flat_tables_find(const struct pp_flat_tables *flat, const char *key);

#endif
