/* SPDX-License-Identifier: MIT */
/* Extracts nested tables from their rows, with the columns that identify the row. */
#include "table/flat.h"

#include <string.h>

#define NAMES (PP_COLUMN_KEY | PP_COLUMN_ID)

/* "sites" for "locks.sites". */
static const char *last_part(const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot ? dot + 1 : key;
}

static char *joined(GStringChunk *strings, const char *a, const char *between, const char *b)
{
	g_autofree char *text = g_strconcat(a, between, b, NULL);

	return g_string_chunk_insert(strings, text);
}

/* The columns of `table` that its nested rows repeat.  The caller unrefs the array. */
static GArray *repeated_columns(const struct pp_table *table)
{
	GArray *numbers = g_array_new(FALSE, FALSE, sizeof(unsigned));

	for (unsigned c = 0; c < table->n_columns; c++)
		if (table->columns[c].flags & NAMES)
			g_array_append_val(numbers, c);
	return numbers;
}

static GArray *make_columns(const struct pp_table *table, const GArray *repeated,
			    const struct pp_column *nested, GStringChunk *strings)
{
	GArray *columns = g_array_new(FALSE, FALSE, sizeof(struct pp_column));
	const char *prefix = last_part(table->key);
	struct pp_column column = {
	    .key = joined(strings, prefix, "_", "row"),
	    .title = "row",
	    .type = PP_TYPE_COUNT,
	    .flags = PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
	    .help = "number of the outer row, from 1",
	};

	g_array_append_val(columns, column);
	for (guint i = 0; i < repeated->len; i++) {
		unsigned c = g_array_index(repeated, unsigned, i);

		column = table->columns[c];
		/* Columns of outer tables have their prefix already. */
		if (c >= table->n_parents)
			column.key = joined(strings, prefix, "_", column.key);
		g_array_append_val(columns, column);
	}
	g_array_append_vals(columns, nested->nested, nested->n_nested);
	return columns;
}

static void add_rows(struct pp_table *flat, const struct pp_table *table, guint at,
		     const GArray *repeated, const struct pp_table *nested)
{
	const struct pp_cell *outer = table->rows->pdata[at];

	g_assert(flat->n_columns == flat->n_parents + nested->n_columns);
	for (guint r = 0; r < nested->rows->len; r++) {
		struct pp_cell *row = pp_table_add_row(flat);

		pp_cell_set_count(&row[0], at + 1);
		for (guint i = 0; i < repeated->len; i++)
			row[i + 1] = outer[g_array_index(repeated, unsigned, i)];
		memcpy(&row[flat->n_parents], nested->rows->pdata[r],
		       nested->n_columns * sizeof(*row));
	}
}

struct pp_table *pp_table_nested(const struct pp_table *table, unsigned column)
{
	const struct pp_column *nested = &table->columns[column];
	g_autoptr(GArray) repeated = NULL;
	g_autofree char *title = NULL;
	GStringChunk *strings;
	struct pp_table *flat;

	if (!nested->nested)
		return NULL;
	repeated = repeated_columns(table);
	strings = g_string_chunk_new(256);
	title = g_strconcat(table->title, ": ", nested->title, NULL);
	flat = pp_table_new_own(joined(strings, table->key, ".", nested->key), title,
				make_columns(table, repeated, nested, strings), strings);
	flat->is_view = true;
	flat->is_excerpt = nested->flags & PP_COLUMN_EXCERPT;
	flat->n_parents = repeated->len + 1;
	for (guint r = 0; r < table->rows->len; r++) {
		const struct pp_cell *row = table->rows->pdata[r];

		if (!row[column].missing)
			add_rows(flat, table, r, repeated, row[column].table);
	}
	return flat;
}

static void add_nested(struct pp_flat_tables *flat, const struct pp_table *table)
{
	for (unsigned c = 0; c < table->n_columns; c++) {
		struct pp_table *nested =
		    table->columns[c].type == PP_TYPE_TABLE ? pp_table_nested(table, c) : NULL;

		if (!nested)
			continue;
		g_ptr_array_add(flat->all, nested);
		g_ptr_array_add(flat->nested, nested);
		add_nested(flat, nested);
	}
}

void pp_flat_tables_init(struct pp_flat_tables *flat, struct pp_table *const *tables,
			 unsigned n_tables)
{
	flat->all = g_ptr_array_new();
	flat->nested = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	for (unsigned t = 0; t < n_tables; t++) {
		if (tables[t]->is_for_text)
			continue;
		g_ptr_array_add(flat->all, tables[t]);
		add_nested(flat, tables[t]);
	}
}

void pp_flat_tables_done(struct pp_flat_tables *flat)
{
	g_ptr_array_unref(flat->all);
	g_ptr_array_unref(flat->nested);
	*flat = (struct pp_flat_tables){0};
}

struct pp_table *pp_flat_tables_find(const struct pp_flat_tables *flat, const char *key)
{
	for (guint i = 0; i < flat->all->len; i++) {
		struct pp_table *table = flat->all->pdata[i];

		if (strcmp(table->key, key) == 0)
			return table;
	}
	return NULL;
}
