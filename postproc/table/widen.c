/* SPDX-License-Identifier: MIT */
/* Rows are copied with the pointers in their cells, which the table still owns. */
#include "table/widen.h"

#include <string.h>

static void add_row(struct pp_table *wide, const struct pp_cell *row, unsigned at, unsigned n_new)
{
	struct pp_cell *to = pp_table_add_row(wide);

	memcpy(to, row, at * sizeof(*row));
	memcpy(&to[at + n_new], &row[at], (wide->n_columns - n_new - at) * sizeof(*row));
}

struct pp_table *pp_table_widen(const struct pp_table *table, unsigned at,
				const struct pp_column *columns, unsigned n_columns)
{
	GArray *own = g_array_new(FALSE, FALSE, sizeof(struct pp_column));
	struct pp_table *wide;

	g_array_append_vals(own, table->columns, table->n_columns);
	g_array_insert_vals(own, at, columns, n_columns);
	wide = pp_table_new_own(table->key, table->title, own, g_string_chunk_new(64));
	wide->is_view = true;
	wide->is_for_text = table->is_for_text;
	wide->is_for_programs = table->is_for_programs;
	wide->is_excerpt = table->is_excerpt;
	wide->is_in_order = table->is_in_order;
	wide->text_rows = table->text_rows;
	wide->n_left_out = table->n_left_out;
	for (guint i = 0; i < table->rows->len; i++)
		add_row(wide, table->rows->pdata[i], at, n_columns);
	for (guint i = 0; i < table->notes->len; i++)
		pp_table_note(wide, "%s", (const char *)table->notes->pdata[i]);
	return wide;
}
