/* SPDX-License-Identifier: MIT */
/* The first rows of a table. */
#ifndef PP_TABLE_TOP_H
#define PP_TABLE_TOP_H

#include "table/table.h"

/*
 * Keeps n rows: the first ones, or, if a column has PP_COLUMN_RANK, those with the largest values
 * there, largest first.  Of a table in order of time, those with the largest main figure remain, in
 * this order.  A note tells how many rows were left out, and their share of the main figure.
 */
void pp_table_keep_top(struct pp_table *table, unsigned n);

#endif
