/* SPDX-License-Identifier: MIT */
/* One table of every type of column, as text and as JSON. */
#include <math.h>

#include "check.h"
#include "render/render.h"

enum { NAME, COUNT, TIME, SECONDS, PERCENT, RATIO, ADDRESS, TRUTH, NESTED, HIDDEN, SHOWN, N };

static const struct pp_column columns[N] = {
    [NAME] = {"name", "name", PP_TYPE_TEXT, 0, ""},
    [COUNT] = {"count", "count", PP_TYPE_COUNT, 0, ""},
    [TIME] = {"time_ns", "time", PP_TYPE_TIME_NS, 0, ""},
    [SECONDS] = {"cpu_s", "cpu", PP_TYPE_SECONDS, 0, ""},
    [PERCENT] = {"pct", "%", PP_TYPE_PERCENT, 0, ""},
    [RATIO] = {"ratio", "ratio", PP_TYPE_RATIO, 0, ""},
    [ADDRESS] = {"object", "object", PP_TYPE_ADDRESS, 0, ""},
    [TRUTH] = {"ended", "ended", PP_TYPE_BOOL, 0, ""},
    [NESTED] = {"sites", "sites", PP_TYPE_TABLE, 0, ""},
    [HIDDEN] = {"hidden", "hidden", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY, ""},
    [SHOWN] = {"shown", "shown", PP_TYPE_TEXT, PP_COLUMN_TEXT_ONLY, ""},
};

static const struct pp_column site_columns[] = {{"site", "site", PP_TYPE_TEXT, 0, ""}};

static const char expected_text[] =
    "Things\n\n"
    "  name      count     time       cpu      %  ratio  object  ended  shown\n"
    "  w\303\266rk?er  123456  1.50 ms  0.250000  12.5%   0.33  0x1f40    yes  last\n"
    "  -             -        -         -      -      -       -      -  -\n"
    "\n"
    "  note: no figures for the second: it was not there\n";

static const char expected_json[] =
    "{\n"
    " \"schema\" : 1,\n"
    " \"things\" : [\n"
    "  {\n"
    "   \"name\" : \"w\303\266rk\\ner\",\n"
    "   \"count\" : 123456,\n"
    "   \"time_ns\" : 1500000,\n"
    "   \"cpu_s\" : 0.25,\n"
    "   \"pct\" : 12.5,\n"
    "   \"ratio\" : 0.33000000000000002,\n"
    "   \"object\" : \"0x1f40\",\n"
    "   \"ended\" : true,\n"
    "   \"sites\" : [\n"
    "    {\n"
    "     \"site\" : \"main (a.c:1)\"\n"
    "    }\n"
    "   ],\n"
    "   \"hidden\" : 9\n"
    "  },\n"
    "  {\n"
    "   \"name\" : null,\n"
    "   \"count\" : null,\n"
    "   \"time_ns\" : null,\n"
    "   \"cpu_s\" : null,\n"
    "   \"pct\" : null,\n"
    "   \"ratio\" : null,\n"
    "   \"object\" : null,\n"
    "   \"ended\" : null,\n"
    "   \"sites\" : null,\n"
    "   \"hidden\" : null\n"
    "  }\n"
    " ],\n"
    " \"notes\" : [\n"
    "  {\n"
    "   \"section\" : \"things\",\n"
    "   \"note\" : \"no figures for the second: it was not there\"\n"
    "  }\n"
    " ]\n"
    "}\n";

static struct pp_table *make_table(void)
{
	struct pp_table *table = pp_table_new("things", "Things", columns, N);
	struct pp_table *sites = pp_table_new("sites", "Sites", site_columns, 1);
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_text(&pp_table_add_row(sites)[0], "main (a.c:1)");
	pp_cell_set_text(&row[NAME], "replaced");
	/* A thread may call itself anything. */
	pp_cell_set_text(&row[NAME], "w\303\266rk\ner");
	pp_cell_set_count(&row[COUNT], 123456);
	pp_cell_set_time(&row[TIME], 1500000);
	pp_cell_set_number(&row[SECONDS], 0.25);
	pp_cell_set_number(&row[PERCENT], 12.5);
	pp_cell_set_number(&row[RATIO], 0.33);
	pp_cell_set_count(&row[ADDRESS], 8000);
	pp_cell_set_bool(&row[TRUTH], true);
	pp_cell_set_table(&row[NESTED], sites);
	pp_cell_set_count(&row[HIDDEN], 9);
	pp_cell_set_text(&row[SHOWN], "last");
	row = pp_table_add_row(table);
	pp_cell_set_number(&row[RATIO], NAN);
	row[RATIO].missing = true;
	pp_table_note(table, "no figures for the %s: it was not there", "second");
	return table;
}

static void check_laid_out(void)
{
	struct pp_table *table = pp_table_new("empty", "Empty", columns, N);
	g_autoptr(GString) text = g_string_new(NULL);

	pp_render_text(text, table, false);
	CHECK_STR(text->str, "Empty\n\n  none\n");
	table->text = g_strdup("by hand\n");
	g_string_truncate(text, 0);
	pp_render_text(text, table, true);
	CHECK_STR(text->str, "\033[1mEmpty\033[0m\n\nby hand\n");
	pp_table_free(table);
}

/* What JSON has no word for. */
static void check_extremes(void)
{
	struct pp_table *table = pp_table_new("things", "Things", columns, N);
	struct pp_cell *row = pp_table_add_row(table);
	g_autoptr(GString) text = g_string_new(NULL);

	pp_cell_set_number(&row[RATIO], INFINITY);
	pp_cell_set_number(&row[PERCENT], NAN);
	pp_cell_set_text(&row[NAME], "not \xff UTF-8");
	pp_cell_set_count(&row[COUNT], UINT64_MAX);
	pp_render_json(text, &table, 1);
	CHECK_HOLDS(text->str, "\"ratio\" : null");
	CHECK_HOLDS(text->str, "\"pct\" : null");
	CHECK_HOLDS(text->str, "not \357\277\275 UTF-8");
	CHECK_HOLDS(text->str, "\"count\" : 1.844674407370955");
	CHECK(g_utf8_validate(text->str, -1, NULL));
	pp_table_free(table);
}

int main(void)
{
	struct pp_table *table = make_table();
	g_autoptr(GString) text = g_string_new(NULL);

	pp_render_text(text, table, false);
	CHECK_STR(text->str, expected_text);
	g_string_truncate(text, 0);
	pp_render_json(text, &table, 1);
	CHECK_STR(text->str, expected_json);
	CHECK_INT(pp_table_column(table, "ratio"), RATIO);
	CHECK_INT(pp_table_column(table, "nothing"), -1);
	pp_table_remove_row(table, 0);
	CHECK_INT(table->rows->len, 1);
	pp_table_free(table);
	pp_table_free(NULL);
	check_laid_out();
	check_extremes();
	return 0;
}
