/* SPDX-License-Identifier: MIT */
/*
 * Keeps the first rows of a table (top.h): those with the largest values of the column that ranks
 * them, in their order in the table.
 */
#include "table/top.h"

#include <stdlib.h>

/* A row, with its place before sorting. */
struct ranked {
	struct pp_cell *row;
	const struct pp_cell *cell; /* the value to sort by */
	guint at;
};

/* The column by which the table's rows are chosen; n_columns: by their order. */
static unsigned rank_column(const struct pp_table *table)
{
	for (unsigned c = 0; c < table->n_columns; c++)
		if (table->columns[c].flags & PP_COLUMN_RANK)
			return c;
	return table->is_in_order ? pp_table_main_column(table) : table->n_columns;
}

static gint largest_first(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct ranked *x = a, *y = b;
	const struct pp_column *column = data;
	bool has_x = !x->cell->missing, has_y = !y->cell->missing;

	if (has_x && has_y) {
		double of_x = pp_cell_number(x->cell, column->type);
		double of_y = pp_cell_number(y->cell, column->type);

		if (of_x != of_y)
			return of_x < of_y ? 1 : -1;
	}
	if (has_x != has_y)
		return has_x ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

static gint first_first(gconstpointer a, gconstpointer b)
{
	const struct ranked *x = a, *y = b;

	return x->at < y->at ? -1 : 1;
}

static void sort(struct pp_table *table, unsigned column, unsigned n)
{
	g_autofree struct ranked *rows = g_new(struct ranked, table->rows->len);

	for (guint i = 0; i < table->rows->len; i++) {
		struct pp_cell *row = table->rows->pdata[i];

		rows[i] = (struct ranked){.row = row, .cell = &row[column], .at = i};
	}
	g_qsort_with_data(rows, (gint)table->rows->len, sizeof(*rows), largest_first,
			  (void *)&table->columns[column]);
	if (table->is_in_order)
		qsort(rows, n, sizeof(*rows), first_first);
	for (guint i = 0; i < table->rows->len; i++)
		table->rows->pdata[i] = rows[i].row;
}

static bool can_be_added(const struct pp_column *column)
{
	return (column->type == PP_TYPE_COUNT || column->type == PP_TYPE_TIME_NS ||
		column->type == PP_TYPE_SECONDS) &&
	       !(column->flags & (PP_COLUMN_MAX | PP_COLUMN_NO_SUM));
}

/* The sum of the column in the rows from `first` on. */
static double sum_of(const struct pp_table *table, unsigned column, guint first)
{
	double sum = 0;

	for (guint i = first; i < table->rows->len; i++) {
		const struct pp_cell *row = table->rows->pdata[i];

		if (!row[column].missing)
			sum += pp_cell_number(&row[column], table->columns[column].type);
	}
	return sum;
}

static void add_note(struct pp_table *table, unsigned column, unsigned n)
{
	guint n_all = table->rows->len;
	double all = 0;

	if (column < table->n_columns && can_be_added(&table->columns[column]))
		all = sum_of(table, column, 0);
	if (all > 0)
		pp_table_note(table, "%u of %u rows; %.1f %% of '%s' is in the others", n, n_all,
			      100 * sum_of(table, column, n) / all, table->columns[column].title);
	else
		pp_table_note(table, "%u of %u rows", n, n_all);
}

void pp_table_keep_top(struct pp_table *table, unsigned n)
{
	unsigned column = rank_column(table);

	if (table->rows->len <= n)
		return;
	if (column < table->n_columns)
		sort(table, column, n);
	else
		column = pp_table_main_column(table);
	add_note(table, column, n);
	while (table->rows->len > n)
		pp_table_remove_row(table, table->rows->len - 1);
}
