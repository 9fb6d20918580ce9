/* SPDX-License-Identifier: MIT */
/* A table owns its rows, with their texts and nested tables. */
#include "table/table.h"

#include <inttypes.h>
#include <string.h>

#include "core/text/duration.h"

/* A row does not contain its length, so the table frees its rows. */
static void row_free(const struct pp_table *table, struct pp_cell *row)
{
	for (unsigned i = 0; i < table->n_columns && !table->is_view; i++) {
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

struct pp_table *pp_table_new_nested(const struct pp_column *column)
{
	return pp_table_new(column->key, column->title, column->nested, column->n_nested);
}

struct pp_table *pp_table_new_own(const char *key, const char *title, GArray *columns,
				  GStringChunk *strings)
{
	struct pp_table *table =
	    pp_table_new(g_string_chunk_insert(strings, key), g_string_chunk_insert(strings, title),
			 (const struct pp_column *)columns->data, columns->len);

	table->own_columns = columns;
	table->strings = strings;
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
	if (table->own_columns) {
		g_array_unref(table->own_columns);
		g_string_chunk_free(table->strings);
	}
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

bool pp_column_is_figure(const struct pp_column *column)
{
	if (column->flags & (PP_COLUMN_KEY | PP_COLUMN_ID))
		return false;
	switch (column->type) {
	case PP_TYPE_COUNT:
	case PP_TYPE_TIME_NS:
	case PP_TYPE_SECONDS:
	case PP_TYPE_PERCENT:
	case PP_TYPE_RATIO:
		return true;
	default:
		return false;
	}
}

double pp_cell_number(const struct pp_cell *cell, enum pp_type type)
{
	switch (type) {
	case PP_TYPE_COUNT:
		return (double)cell->count;
	case PP_TYPE_TIME_NS:
		return (double)cell->time_ns;
	default:
		return cell->number;
	}
}

bool pp_cell_combine(struct pp_cell *sum, const struct pp_cell *cell,
		     const struct pp_column *column)
{
	bool is_ratio = column->type == PP_TYPE_PERCENT || column->type == PP_TYPE_RATIO;

	if (column->flags & PP_COLUMN_MAX) {
		if (pp_cell_number(cell, column->type) > pp_cell_number(sum, column->type))
			*sum = *cell;
		return true;
	}
	if (column->flags & PP_COLUMN_NO_SUM || (is_ratio && !(column->flags & PP_COLUMN_SHARE)))
		return false;
	if (column->type == PP_TYPE_COUNT)
		return !__builtin_add_overflow(sum->count, cell->count, &sum->count);
	if (column->type == PP_TYPE_TIME_NS)
		return !__builtin_add_overflow(sum->time_ns, cell->time_ns, &sum->time_ns);
	sum->number += cell->number;
	return true;
}

static bool has_values(const struct pp_table *table, unsigned column)
{
	for (guint r = 0; r < table->rows->len; r++) {
		const struct pp_cell *row = table->rows->pdata[r];

		if (!row[column].missing)
			return true;
	}
	return false;
}

unsigned pp_table_main_column(const struct pp_table *table)
{
	unsigned first = table->n_columns;

	for (unsigned c = 0; c < table->n_columns; c++) {
		if (!pp_column_is_figure(&table->columns[c]) || !has_values(table, c))
			continue;
		if (table->columns[c].flags & PP_COLUMN_MAIN)
			return c;
		first = MIN(first, c);
	}
	return first;
}

/* The column has counts. */
static bool has_several_values(const struct pp_table *table, unsigned c)
{
	const struct pp_cell *first = NULL;

	for (guint r = 0; r < table->rows->len; r++) {
		const struct pp_cell *cell = (const struct pp_cell *)table->rows->pdata[r] + c;

		if (cell->missing)
			continue;
		if (first && first->count != cell->count)
			return true;
		first = cell;
	}
	return false;
}

bool *pp_table_columns_in_text(const struct pp_table *table)
{
	bool *shown = g_new0(bool, table->n_columns);

	for (unsigned c = 0; c < table->n_columns; c++) {
		unsigned flags = table->columns[c].flags;

		if (flags & PP_COLUMN_IF_SEVERAL)
			shown[c] = has_several_values(table, c);
		else
			shown[c] = !(flags & PP_COLUMN_JSON_ONLY) &&
				   table->columns[c].type != PP_TYPE_TABLE;
	}
	return shown;
}

const struct pp_cell *pp_table_cell(const struct pp_table *table, unsigned row, const char *key)
{
	int column = table ? pp_table_column(table, key) : -1;
	const struct pp_cell *cells = column < 0 ? NULL : table->rows->pdata[row];

	return cells && !cells[column].missing ? &cells[column] : NULL;
}

uint64_t pp_table_count(const struct pp_table *table, unsigned row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell ? cell->count : 0;
}

int64_t pp_table_time_ns(const struct pp_table *table, unsigned row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell ? cell->time_ns : 0;
}

void pp_table_note(struct pp_table *table, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(table->notes, g_strdup_vprintf(format, args));
	va_end(args);
}

static char *number_text(const struct pp_cell *cell, enum pp_type type)
{
	switch (type) {
	case PP_TYPE_COUNT:
		return g_strdup_printf("%" PRIu64, cell->count);
	case PP_TYPE_INTEGER:
		return g_strdup_printf("%" PRId64, cell->integer);
	case PP_TYPE_TIME_NS:
		return pp_duration_text(cell->time_ns);
	case PP_TYPE_SECONDS:
		return g_strdup_printf("%.6f", cell->number);
	case PP_TYPE_PERCENT:
		return g_strdup_printf("%.1f%%", cell->number);
	case PP_TYPE_RATIO:
		return g_strdup_printf("%.2f", cell->number);
	default:
		return g_strdup("");
	}
}

/* No plus sign before a number rounded to zero. */
static bool wants_plus(const char *number)
{
	return *number != '-' && number[strspn(number, "0.%")];
}

char *pp_cell_text(const struct pp_cell *cell, const struct pp_column *column)
{
	g_autofree char *number = NULL;

	if (cell->missing)
		return g_strdup("-");
	switch (column->type) {
	case PP_TYPE_TEXT:
		return g_strdup(cell->text);
	case PP_TYPE_ADDRESS:
		return g_strdup_printf("0x%" PRIx64, cell->count);
	case PP_TYPE_BOOL:
		return g_strdup(cell->truth ? "yes" : "no");
	default:
		break;
	}
	number = number_text(cell, column->type);
	return column->flags & PP_COLUMN_SIGNED && wants_plus(number)
		   ? g_strconcat("+", number, NULL)
		   : g_steal_pointer(&number);
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

void pp_cell_set_integer(struct pp_cell *cell, int64_t integer)
{
	cell->integer = integer;
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
