/* SPDX-License-Identifier: MIT */
/* A table with further columns. */
#ifndef PP_TABLE_WIDEN_H
#define PP_TABLE_WIDEN_H

#include "table/table.h"

/*
 * Returns a view of the table, with its notes, that has these columns of numbers in front of the
 * column `at`; their cells are missing.  The table must outlive it.
 */
struct pp_table *pp_table_widen(const struct pp_table *table, unsigned at,
				const struct pp_column *columns, unsigned n_columns);

#endif
