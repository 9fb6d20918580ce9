/* SPDX-License-Identifier: MIT */
/* Reads text, amounts and line widths from the cells of node and edge tables. */
#include "render/dot_table.h"

#include <inttypes.h>

#include "core/text/duration.h"

const struct pp_cell *pp_dot_cell(const struct pp_table *table, const struct pp_cell *row,
				  const char *key)
{
	int column = pp_table_column(table, key);

	return column < 0 || row[column].missing ? NULL : &row[column];
}

const char *pp_dot_text(const struct pp_table *table, const struct pp_cell *row, const char *key)
{
	const struct pp_cell *cell = pp_dot_cell(table, row, key);

	return cell ? cell->text : NULL;
}

uint64_t pp_dot_amount(const struct pp_table *table, const struct pp_cell *row, const char *key)
{
	const struct pp_cell *cell = pp_dot_cell(table, row, key);

	if (!cell)
		return 0;
	if (table->columns[pp_table_column(table, key)].type == PP_TYPE_TIME_NS)
		return (uint64_t)MAX(cell->time_ns, 0);
	return cell->count;
}

bool pp_dot_has(const struct pp_table *table, const struct pp_cell *row, const char *const *keys)
{
	bool has = false;

	for (; keys && *keys; keys++)
		has = pp_dot_cell(table, row, *keys) != NULL;
	return has;
}

static void append_cell(GString *to, const struct pp_column *column, const struct pp_cell *cell)
{
	g_autofree char *time = NULL;

	switch (column->type) {
	case PP_TYPE_TEXT:
		g_string_append(to, cell->text);
		break;
	case PP_TYPE_COUNT:
		g_string_append_printf(to, "%" PRIu64, cell->count);
		break;
	case PP_TYPE_ADDRESS:
		g_string_append_printf(to, "0x%" PRIx64, cell->count);
		break;
	case PP_TYPE_TIME_NS:
		time = pp_duration_text(cell->time_ns);
		g_string_append(to, time);
		break;
	case PP_TYPE_SECONDS:
		g_string_append_printf(to, "%.2f s", cell->number);
		break;
	default:
		break;
	}
}

char *pp_dot_cells(const struct pp_table *table, const struct pp_cell *row, const char *const *keys,
		   const char *between, const char *missing)
{
	GString *text = g_string_new(NULL);
	bool any = false;

	for (; *keys; keys++) {
		const struct pp_cell *cell = pp_dot_cell(table, row, *keys);

		if (!cell && !missing)
			continue;
		if (any)
			g_string_append(text, between);
		any = true;
		if (cell)
			append_cell(text, &table->columns[pp_table_column(table, *keys)], cell);
		else
			g_string_append(text, missing);
	}
	return g_string_free(text, FALSE);
}

char *pp_dot_thin_text(const struct pp_dot_left *left, uint64_t min_count, const char *edges,
		       const char *counted)
{
	return g_strdup_printf("left out: %" PRIu64 " %s of less than %" PRIu64 ", %" PRIu64
			       " %s in all",
			       left->edges, edges, min_count, left->counted, counted);
}

char *pp_dot_beyond_text(const struct pp_dot_left *left, unsigned top, const char *edges,
			 const char *counted)
{
	return g_strdup_printf("left out: %" PRIu64 " %s beyond the first %u, %" PRIu64
			       " %s in all",
			       left->edges, edges, top, left->counted, counted);
}
