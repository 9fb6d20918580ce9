/* SPDX-License-Identifier: MIT */
/*
 * Nested tables as separate tables, for formats that have only rows and columns (spreadsheets,
 * SQL), and for comparisons.
 *
 * The nested tables "sites" in the rows of "locks" become one table "locks.sites".  Each row begins
 * with the number of its outer row ("locks_row", from 1) and that row's key and id columns
 * ("locks_name").
 */
#ifndef PP_TABLE_FLAT_H
#define PP_TABLE_FLAT_H

#include "table/table.h"

/*
 * Combines all tables in that column.  The cells still belong to `table`, which must outlive the
 * result.  NULL if the column does not define the nested columns.
 */
struct pp_table *pp_table_nested(const struct pp_table *table, unsigned column);

struct pp_flat_tables {
	GPtrArray *all;	   /* of struct pp_table *: each table, followed by those nested in it */
	GPtrArray *nested; /* those of `all` that were created for it */
};

/* Omits tables that are for text only. */
void pp_flat_tables_init(struct pp_flat_tables *flat, struct pp_table *const *tables,
			 unsigned n_tables);
void pp_flat_tables_done(struct pp_flat_tables *flat);

/* NULL if there is no table with that key. */
struct pp_table *pp_flat_tables_find(const struct pp_flat_tables *flat, const char *key);

#endif
