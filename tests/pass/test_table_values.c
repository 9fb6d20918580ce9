/* SPDX-License-Identifier: MIT */
/* Tables as text and as JSON: missing values, long tables, control characters. */
#include <stdio.h>
#include <string.h>

#include "render/render.h"

enum { NAME, COUNT, WAIT, ADDRESS, HIDDEN, N_COLUMNS };

static const struct pp_column columns[N_COLUMNS] = {
    [NAME] = {"name", "name", PP_TYPE_TEXT, 0, ""},
    [COUNT] = {"count", "count", PP_TYPE_COUNT, 0, ""},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, 0, ""},
    [ADDRESS] = {"object", "object", PP_TYPE_ADDRESS, PP_COLUMN_JSON_ONLY, ""},
    [HIDDEN] = {"seen_by_people", "people", PP_TYPE_BOOL, PP_COLUMN_TEXT_ONLY, ""},
};

static unsigned n_failed;

static void check(const GString *found, const char *wanted, bool there)
{
	if (!strstr(found->str, wanted) == !there)
		return;
	printf("expected %s \"%s\", got\n%s\n", there ? "text with" : "no", wanted, found->str);
	n_failed++;
}

static struct pp_table *make_table(unsigned n_rows)
{
	struct pp_table *table = pp_table_new("rows", "Rows", columns, N_COLUMNS);

	for (unsigned i = 0; i < n_rows; i++) {
		struct pp_cell *row = pp_table_add_row(table);
		g_autofree char *name = g_strdup_printf("row%u\033[2J", i);

		pp_cell_set_text(&row[NAME], name);
		if (i % 2)
			pp_cell_set_count(&row[COUNT], 1000 + i);
		pp_cell_set_time(&row[WAIT], 1500000);
		pp_cell_set_count(&row[ADDRESS], 0x7fff0000);
		pp_cell_set_bool(&row[HIDDEN], true);
	}
	pp_table_note(table, "not all of it");
	return table;
}

static void check_text(struct pp_table *table)
{
	g_autoptr(GString) text = g_string_new(NULL);

	pp_render_text(text, table, &(struct pp_text_style){0});
	check(text, "row0?[2J", true);
	check(text, "1001", true);
	check(text, "1.50 ms", true);
	check(text, "-", true);
	check(text, "yes", true);
	check(text, "0x7fff0000", false);
	check(text, "\033", false);
	check(text, "row4", true);
	check(text, "more", false);
	check(text, "note: not all of it", true);

	g_string_truncate(text, 0);
	table->text_rows = 3;
	pp_render_text(text, table, &(struct pp_text_style){0});
	check(text, "row2", true);
	check(text, "row3", false);
	check(text, "... and 2 more", true);
}

static void check_json(struct pp_table *table)
{
	g_autoptr(GString) text = g_string_new(NULL);

	table->text_rows = 3;
	pp_render_json(text, &table, 1);
	check(text, "\"schema\" : 1", true);
	check(text, "\"rows\" : [", true);
	check(text, "row4", true);
	check(text, "\"count\" : null", true);
	check(text, "\"count\" : 1003", true);
	check(text, "\"wait_ns\" : 1500000", true);
	check(text, "\"object\" : \"0x7fff0000\"", true);
	check(text, "people", false);
	check(text, "\033", false);

	g_string_truncate(text, 0);
	pp_render_json_row(text, table, 1);
	check(text, "\"count\":1001,\"wait_ns\":1500000,\"object\":\"0x7fff0000\"}", true);
	check(text, "\n", false);
}

int main(void)
{
	struct pp_table *table = make_table(5);

	check_text(table);
	check_json(table);
	pp_table_free(table);
	return n_failed != 0;
}
