/* SPDX-License-Identifier: MIT */
#include "core/table.h"

/* A row does not know its length, so the table frees the rows itself. */
static void row_free(const struct pp_table *table, struct pp_cell *row)
{
	for (unsigned i = 0; i < table->n_columns; i++) {
		if (row[i].missing)
			continue;
		if (table->columns[i].type == PP_TYPE_TEXT)
			g_free(row[i].text);
		else if (table->columns[i].type == PP_TYPE_TABLE)
			pp_table_free(row[i].table);
	}
	g_free(row);
}

struct pp_table *pp_table_new(const char *key, const char *title, const struct pp_column *columns,
			      unsigned n_columns)
{
	struct pp_table *table = g_new0(struct pp_table, 1);

	table->key = key;
	table->title = title;
	table->columns = columns;
	table->n_columns = n_columns;
	table->rows = g_ptr_array_new();
	table->notes = g_ptr_array_new_with_free_func(g_free);
	return table;
}

void pp_table_free(struct pp_table *table)
{
	if (!table)
		return;
	for (guint i = 0; i < table->rows->len; i++)
		row_free(table, table->rows->pdata[i]);
	g_ptr_array_unref(table->rows);
	g_ptr_array_unref(table->notes);
	g_free(table->text);
	g_free(table);
}

struct pp_cell *pp_table_add_row(struct pp_table *table)
{
	struct pp_cell *row = g_new0(struct pp_cell, table->n_columns);

	for (unsigned i = 0; i < table->n_columns; i++)
		row[i].missing = true;
	g_ptr_array_add(table->rows, row);
	return row;
}

void pp_table_remove_row(struct pp_table *table, unsigned at)
{
	row_free(table, table->rows->pdata[at]);
	g_ptr_array_remove_index(table->rows, at);
}

int pp_table_column(const struct pp_table *table, const char *key)
{
	for (unsigned i = 0; i < table->n_columns; i++)
		if (g_str_equal(table->columns[i].key, key))
			return (int)i;
	return -1;
}

const struct pp_cell *pp_table_cell(const struct pp_table *table, unsigned row, const char *key)
{
	int column = table ? pp_table_column(table, key) : -1;
	const struct pp_cell *cells = column < 0 ? NULL : table->rows->pdata[row];

	return cells && !cells[column].missing ? &cells[column] : NULL;
}

void pp_table_note(struct pp_table *table, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(table->notes, g_strdup_vprintf(format, args));
	va_end(args);
}

void pp_cell_set_text(struct pp_cell *cell, const char *text)
{
	if (!cell->missing)
		g_free(cell->text);
	cell->text = g_strdup(text);
	cell->missing = !text;
}

void pp_cell_set_count(struct pp_cell *cell, uint64_t count)
{
	cell->count = count;
	cell->missing = false;
}

void pp_cell_set_time(struct pp_cell *cell, int64_t time_ns)
{
	cell->time_ns = time_ns;
	cell->missing = false;
}

void pp_cell_set_number(struct pp_cell *cell, double number)
{
	cell->number = number;
	cell->missing = false;
}

void pp_cell_set_bool(struct pp_cell *cell, bool truth)
{
	cell->truth = truth;
	cell->missing = false;
}

void pp_cell_set_table(struct pp_cell *cell, struct pp_table *table)
{
	if (!cell->missing)
		pp_table_free(cell->table);
	cell->table = table;
	cell->missing = !table;
}
