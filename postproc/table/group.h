/* SPDX-License-Identifier: MIT */
/* Combines the rows of similar threads. */
#ifndef PP_TABLE_GROUP_H
#define PP_TABLE_GROUP_H

#include "table/table.h"

/*
 * A table with a row for all rows that have the same keys, apart from those of their threads
 * (PP_COLUMN_THREAD): figures are combined (table/table.h), and are missing if one row has
 * none; ids and nested tables are left out.  If a row belongs to one thread, it has the number of
 * threads, and the least and the largest of their main figures, else the number of pairs of
 * threads.  The rows with the largest main figure are first.
 *
 * Returns NULL if the table has no threads, or if its rows are in order of time.
 */
struct pp_table *pp_table_group(const struct pp_table *table);

#endif
