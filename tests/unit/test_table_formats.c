/* SPDX-License-Identifier: MIT */
/* One table with every type of column, as text, JSON and CSV. */
#include <math.h>

#include <json-glib/json-glib.h>

#include "check.h"
#include "table/flat.h"
#include "render/page.h"
#include "render/render.h"

enum { NAME, COUNT, TIME, SECONDS, PERCENT, RATIO, ADDRESS, TRUTH, NESTED, HIDDEN, SHOWN, N };

static const struct pp_column site_columns[] = {{"site", "site", PP_TYPE_TEXT, 0, ""}};

static const struct pp_column columns[N] = {
    [NAME] = {"name", "name", PP_TYPE_TEXT, PP_COLUMN_KEY, ""},
    [COUNT] = {"count", "count", PP_TYPE_COUNT, 0, ""},
    [TIME] = {"time_ns", "time", PP_TYPE_TIME_NS, 0, ""},
    [SECONDS] = {"cpu_s", "cpu", PP_TYPE_SECONDS, 0, ""},
    [PERCENT] = {"pct", "%", PP_TYPE_PERCENT, 0, ""},
    [RATIO] = {"ratio", "ratio", PP_TYPE_RATIO, 0, ""},
    [ADDRESS] = {"object", "object", PP_TYPE_ADDRESS, PP_COLUMN_ID, ""},
    [TRUTH] = {"ended", "ended", PP_TYPE_BOOL, 0, ""},
    [NESTED] = {"sites", "sites", PP_TYPE_TABLE, 0, "", site_columns, 1},
    [HIDDEN] = {"hidden", "hidden", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY, ""},
    [SHOWN] = {"shown", "shown", PP_TYPE_TEXT, PP_COLUMN_TEXT_ONLY, ""},
};

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
	struct pp_table *sites = pp_table_new_nested(&columns[NESTED]);
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_text(&pp_table_add_row(sites)[0], "main (a.c:1)");
	pp_cell_set_text(&row[NAME], "replaced");
	/* A thread name may contain any character. */
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

	pp_render_text(text, table, &(struct pp_text_style){0});
	CHECK_STR(text->str, "Empty\n\n  none\n");
	table->text = g_strdup("by hand\n");
	g_string_truncate(text, 0);
	pp_render_text(text, table, &(struct pp_text_style){.colour = true});
	CHECK_STR(text->str, "\033[1mEmpty\033[0m\n\nby hand\n");
	pp_table_free(table);
}

/* A column for several values only, in text and on the page. */
static void check_several_values(void)
{
	static const struct pp_column of_processes[] = {
	    {"pid", "pid", PP_TYPE_COUNT, PP_COLUMN_ID | PP_COLUMN_IF_SEVERAL, ""},
	    {"name", "name", PP_TYPE_TEXT, PP_COLUMN_KEY, ""},
	};
	struct pp_table *table = pp_table_new("locks", "Locks", of_processes, 2);
	g_autoptr(GString) text = g_string_new(NULL), page = g_string_new(NULL);

	/* The last one has no pid. */
	for (unsigned i = 0; i < 3; i++) {
		struct pp_cell *row = pp_table_add_row(table);

		if (i < 2)
			pp_cell_set_count(&row[0], 12);
		pp_cell_set_text(&row[1], "queue");
	}
	pp_render_text(text, table, &(struct pp_text_style){0});
	CHECK_STR(text->str, "Locks\n\n  name\n  queue\n  queue\n  queue\n");
	pp_render_page(page, &(struct pp_page){.title = "Locks"}, &table, 1);
	CHECK(!strstr(page->str, ">pid</th>"));

	pp_cell_set_count(&((struct pp_cell *)table->rows->pdata[1])[0], 7);
	g_string_truncate(text, 0);
	g_string_truncate(page, 0);
	pp_render_text(text, table, &(struct pp_text_style){0});
	CHECK_STR(text->str, "Locks\n\n  pid  name\n   12  queue\n    7  queue\n    -  queue\n");
	pp_render_page(page, &(struct pp_page){.title = "Locks"}, &table, 1);
	CHECK_HOLDS(page->str, ">pid</th>");
	pp_table_free(table);
}

/* Values that JSON cannot represent. */
static void check_extremes(void)
{
	struct pp_table *table = pp_table_new("things", "Things", columns, N);
	struct pp_cell *row = pp_table_add_row(table);
	g_autoptr(GString) text = g_string_new(NULL);

	pp_cell_set_number(&row[RATIO], INFINITY);
	pp_cell_set_number(&row[PERCENT], NAN);
	pp_cell_set_number(&row[SECONDS], 1e-300);
	pp_cell_set_text(&row[NAME], "not \xff UTF-8");
	pp_cell_set_count(&row[COUNT], UINT64_MAX);
	pp_render_json(text, &table, 1);
	CHECK_HOLDS(text->str, "\"ratio\" : null");
	CHECK_HOLDS(text->str, "\"pct\" : null");
	CHECK_HOLDS(text->str, "\"cpu_s\" : 1e-300,");
	CHECK_HOLDS(text->str, "not \357\277\275 UTF-8");
	CHECK_HOLDS(text->str, "\"count\" : 1.844674407370955");
	CHECK(g_utf8_validate(text->str, -1, NULL));
	pp_table_free(table);
}

/* The same as formatted by json-glib; the caller frees it. */
static char *by_json_glib(const char *text)
{
	g_autoptr(JsonNode) root = json_from_string(text, NULL);
	g_autoptr(JsonGenerator) generator = json_generator_new();

	CHECK(root);
	json_generator_set_root(generator, root);
	json_generator_set_pretty(generator, TRUE);
	json_generator_set_indent(generator, 1);
	return json_generator_to_data(generator, NULL);
}

static bool append_part(void *data, GString *part)
{
	g_string_append_len(data, part->str, (gssize)part->len);
	g_string_truncate(part, 0);
	return true;
}

static bool refuse_part(void *data, GString *part)
{
	g_string_truncate(part, 0);
	++*(unsigned *)data;
	return false;
}

/* Text and numbers of all kinds are formatted as by json-glib, whole and in parts. */
static void check_as_json_glib(void)
{
	struct pp_table *table = pp_table_new("things", "Things", columns, N);
	g_autoptr(GString) whole = g_string_new(NULL), parts = g_string_new(NULL);
	g_autoptr(GString) part = g_string_new(NULL);
	g_autofree char *expected = NULL;
	unsigned n_parts = 0;

	for (unsigned i = 1; i < 40000; i++) {
		/* json-glib 1.6 does not escape 0x1f, which JSON does not allow. */
		char text[] = {'a', (char)(i < 0x80 && i != 0x1f ? i : 'b'), '/', '\0'};
		struct pp_cell *row = pp_table_add_row(table);

		pp_cell_set_text(&row[NAME], i < 0x80 ? text : "\"\\w\303\266rk\t\r\n</\b\f");
		pp_cell_set_number(&row[RATIO], i < 600 ? 3.3 * pow(10, (int)i - 300) : i / 7.0);
		pp_cell_set_number(&row[SECONDS], -(double)i);
		pp_cell_set_table(&row[NESTED], pp_table_new_nested(&columns[NESTED]));
	}
	pp_render_json(whole, &table, 1);
	expected = by_json_glib(whole->str);
	CHECK(g_str_has_prefix(whole->str, expected) && whole->len == strlen(expected) + 1);
	pp_render_json_parts(part, &table, 1, append_part, parts);
	CHECK(part->len < parts->len);
	g_string_append(parts, part->str);
	CHECK(g_string_equal(parts, whole));
	pp_render_json_parts(part, &table, 1, refuse_part, &n_parts);
	CHECK_INT(n_parts, 1);
	pp_table_free(table);
}

static const char expected_csv[] =
    "name,count,time_ns,cpu_s,pct,ratio,object,ended,hidden\n"
    "\"w\303\266rk?er\",123456,1500000,0.25,12.5,0.33,\"0x1f40\",true,9\n"
    ",,,,,,,,\n";

static void append_csv(GString *to, const struct pp_table *table)
{
	g_string_truncate(to, 0);
	pp_render_csv_head(to, table);
	pp_render_csv_rows(to, table);
}

/* Text that a spreadsheet would take for a formula, and characters that are special in CSV. */
static void check_csv_text(void)
{
	static const struct {
		const char *text, *csv;
	} cases[] = {
	    {"", "\"\""},	    {"=1", "\"'=1\""},	{"+1", "\"'+1\""},   {"-1", "\"'-1\""},
	    {"@a", "\"'@a\""},	    {"'a", "\"''a\""},	{"a-b", "\"a-b\""},  {"1", "\"1\""},
	    {"a\"b", "\"a\"\"b\""}, {"a,b", "\"a,b\""}, {"\t=1", "\"?=1\""}, {"\r", "\"?\""},
	    {"\xff", "\"?\""},
	};
	struct pp_table *table = pp_table_new("sites", "Sites", site_columns, 1);
	g_autoptr(GString) expected = g_string_new("site\n");
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		pp_cell_set_text(pp_table_add_row(table), cases[i].text);
		g_string_append_printf(expected, "%s\n", cases[i].csv);
	}
	append_csv(text, table);
	CHECK_STR(text->str, expected->str);
	pp_table_free(table);
}

static void check_csv_extremes(void)
{
	struct pp_table *table = pp_table_new("things", "Things", columns, N);
	struct pp_cell *row = pp_table_add_row(table);
	g_autoptr(GString) text = g_string_new(NULL);

	pp_cell_set_number(&row[RATIO], INFINITY);
	pp_cell_set_number(&row[PERCENT], 0.1 + 0.2);
	pp_cell_set_count(&row[COUNT], UINT64_MAX);
	pp_cell_set_time(&row[TIME], INT64_MIN);
	append_csv(text, table);
	CHECK_HOLDS(text->str,
		    "\n,18446744073709551615,-9223372036854775808,,0.30000000000000004,,,,\n");
	pp_table_free(table);
}

static const struct pp_column outer_columns[] = {
    {"group", "group", PP_TYPE_TEXT, PP_COLUMN_KEY, ""},
    {"sum", "sum", PP_TYPE_COUNT, 0, ""},
    {"things", "things", PP_TYPE_TABLE, 0, "", columns, N},
};

/* Rows nested three deep: each has the names of its outer rows. */
static void check_nested(struct pp_table *inner)
{
	struct pp_table *outer = pp_table_new("groups", "Groups", outer_columns, 3);
	struct pp_table *empty = pp_table_new_nested(&outer_columns[2]);
	struct pp_cell *row = pp_table_add_row(outer);
	g_autoptr(GString) text = g_string_new(NULL);
	struct pp_flat_tables flat;

	pp_cell_set_text(&row[0], "none");
	pp_cell_set_table(&row[2], empty);
	row = pp_table_add_row(outer);
	pp_cell_set_text(&row[0], "all");
	pp_cell_set_table(&row[2], inner);
	pp_flat_tables_init(&flat, &outer, 1);
	CHECK_INT(flat.all->len, 3);
	CHECK(flat.all->pdata[0] == outer);
	append_csv(text, flat.all->pdata[1]);
	CHECK_STR(((struct pp_table *)flat.all->pdata[1])->key, "groups.things");
	CHECK_HOLDS(text->str, "groups_row,groups_group,name,count,");
	CHECK_HOLDS(text->str, "\n2,\"all\",\"w\303\266rk?er\",123456,");
	CHECK_HOLDS(text->str, "\n2,\"all\",,,");
	append_csv(text, pp_flat_tables_find(&flat, "groups.things.sites"));
	CHECK_STR(text->str, "things_row,groups_row,groups_group,things_name,things_object,site\n"
			     "1,2,\"all\",\"w\303\266rk?er\",\"0x1f40\",\"main (a.c:1)\"\n");
	CHECK(!pp_flat_tables_find(&flat, "groups.sites"));
	pp_flat_tables_done(&flat);
	pp_table_free(outer);
}

/* The columns exist without rows, at any depth. */
static void check_nested_none(void)
{
	struct pp_table *outer = pp_table_new("groups", "Groups", outer_columns, 3);
	g_autoptr(GString) text = g_string_new(NULL);
	struct pp_flat_tables flat;

	pp_flat_tables_init(&flat, &outer, 1);
	CHECK_INT(flat.all->len, 3);
	append_csv(text, pp_flat_tables_find(&flat, "groups.things.sites"));
	CHECK_STR(text->str, "things_row,groups_row,groups_group,things_name,things_object,site\n");
	pp_flat_tables_done(&flat);
	pp_table_free(outer);
}

int main(void)
{
	struct pp_table *table = make_table();
	g_autoptr(GString) text = g_string_new(NULL);

	pp_render_text(text, table, &(struct pp_text_style){0});
	CHECK_STR(text->str, expected_text);
	g_string_truncate(text, 0);
	pp_render_json(text, &table, 1);
	CHECK_STR(text->str, expected_json);
	append_csv(text, table);
	CHECK_STR(text->str, expected_csv);
	check_nested(make_table());
	check_nested_none();
	check_as_json_glib();
	check_csv_text();
	check_csv_extremes();
	CHECK_INT(pp_table_column(table, "ratio"), RATIO);
	CHECK_INT(pp_table_column(table, "nothing"), -1);
	pp_table_remove_row(table, 0);
	CHECK_INT(table->rows->len, 1);
	pp_table_free(table);
	pp_table_free(NULL);
	check_laid_out();
	check_several_values();
	check_extremes();
	return 0;
}
