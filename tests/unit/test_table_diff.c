/* SPDX-License-Identifier: MIT */
/* Compares two tables: rows in only one, duplicate rows, missing values. */
#include <math.h>

#include "check.h"
#include "table/diff.h"
#include "render/render.h"

enum { ID, NAME, SITE, WAIT, CALLS, LONGEST, MEAN, SHARE, SELF, NOTE, N };

static const struct pp_column columns[N] = {
    [ID] = {"tid", "tid", PP_TYPE_COUNT, PP_COLUMN_ID, ""},
    [NAME] = {"name", "name", PP_TYPE_TEXT, PP_COLUMN_KEY, ""},
    [SITE] = {"site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_JSON_ONLY, ""},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, ""},
    [CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0, ""},
    [LONGEST] = {"max_ns", "longest", PP_TYPE_TIME_NS, PP_COLUMN_MAX, ""},
    [MEAN] = {"mean_ns", "mean", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM, ""},
    [SHARE] = {"share_pct", "share", PP_TYPE_PERCENT, 0, ""},
    [SELF] = {"self_s", "self", PP_TYPE_SECONDS, 0, ""},
    [NOTE] = {"comment", "comment", PP_TYPE_TEXT, 0, ""},
};

/* A negative value means missing. */
static void add(struct pp_table *table, const char *name, const char *site, int64_t wait_ns,
		int64_t calls)
{
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_count(&row[ID], 1000 + table->rows->len);
	pp_cell_set_text(&row[NAME], name);
	pp_cell_set_text(&row[SITE], site);
	if (wait_ns >= 0) {
		pp_cell_set_time(&row[WAIT], wait_ns);
		pp_cell_set_time(&row[LONGEST], wait_ns / 2);
		pp_cell_set_time(&row[MEAN], wait_ns / 4);
		pp_cell_set_number(&row[SHARE], (double)wait_ns / 100);
		pp_cell_set_number(&row[SELF], (double)wait_ns / 1000);
	}
	if (calls >= 0)
		pp_cell_set_count(&row[CALLS], (uint64_t)calls);
}

static struct pp_table *new_table(void)
{
	return pp_table_new("waits", "Waits", columns, N);
}

static const struct pp_table *compare(const struct pp_table *a, const struct pp_table *b,
				      const struct pp_diff_options *options)
{
	static GPtrArray *tables;

	if (tables)
		g_ptr_array_unref(tables);
	tables = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	if (options)
		pp_table_diff(a, b, options, tables);
	return tables->len ? tables->pdata[0] : NULL;
}

static const struct pp_cell *cell_of(const struct pp_table *table, const char *name,
				     const char *key)
{
	for (guint r = 0; r < table->rows->len; r++) {
		const struct pp_cell *cell = pp_table_cell(table, r, "name");

		if (cell && strcmp(cell->text, name) == 0)
			return pp_table_cell(table, r, key);
	}
	CHECK(!"a row of that name");
	return NULL;
}

static void check_rows(void)
{
	static const struct pp_diff_options all = {0};
	struct pp_table *a = new_table(), *b = new_table();
	const struct pp_table *diff;

	add(a, "grew", "x", 100, 10);
	add(a, "gone", "x", 700, 1);
	add(a, "from zero", "x", 0, 0);
	add(a, "unmeasured", "x", 50, -1);
	add(a, "twice", "x", 100, 1);
	add(a, "twice", "x", 300, 2);
	add(b, "twice", "x", 500, 3);
	add(b, "new", NULL, 60, 5);
	add(b, "unmeasured", "x", -1, 7);
	add(b, "from zero", "x", 20, 4);
	add(b, "grew", "x", 350, 5);
	pp_table_note(a, "of both");
	pp_table_note(b, "of both");
	pp_table_note(b, "of one");
	diff = compare(a, b, &all);
	CHECK_STR(diff->key, "waits");
	CHECK_INT(diff->rows->len, 6);
	/* By the change of wait: 700 (only A), 250, 100, 60 (only B), 20, and not known. */
	CHECK_STR(pp_table_cell(diff, 0, "name")->text, "gone");
	CHECK_STR(pp_table_cell(diff, 1, "name")->text, "grew");
	CHECK_STR(pp_table_cell(diff, 2, "name")->text, "twice");
	CHECK_STR(pp_table_cell(diff, 3, "name")->text, "new");
	CHECK_STR(pp_table_cell(diff, 4, "name")->text, "from zero");
	CHECK_STR(pp_table_cell(diff, 5, "name")->text, "unmeasured");

	CHECK_INT(cell_of(diff, "grew", "wait_ns_a")->time_ns, 100);
	CHECK_INT(cell_of(diff, "grew", "wait_ns_b")->time_ns, 350);
	CHECK_INT(cell_of(diff, "grew", "wait_ns_change")->time_ns, 250);
	CHECK(fabs(cell_of(diff, "grew", "wait_ns_ratio")->number - 3.5) < 1e-9);
	CHECK_INT(cell_of(diff, "grew", "calls_change")->integer, -5);
	CHECK(fabs(cell_of(diff, "grew", "share_pct_change")->number - 2.5) < 1e-9);
	CHECK_INT(pp_table_column(diff, "share_pct_ratio"), -1);
	CHECK(fabs(cell_of(diff, "grew", "self_s_ratio")->number - 3.5) < 1e-9);
	CHECK_INT(pp_table_column(diff, "tid_a"), -1);
	CHECK_INT(pp_table_column(diff, "comment_a"), -1);

	CHECK_STR(cell_of(diff, "gone", "in")->text, "only A");
	CHECK_INT(cell_of(diff, "gone", "wait_ns_a")->time_ns, 700);
	CHECK(!cell_of(diff, "gone", "wait_ns_b") && !cell_of(diff, "gone", "wait_ns_change"));
	CHECK_INT(cell_of(diff, "gone", "rows_b")->count, 0);
	CHECK_STR(cell_of(diff, "new", "in")->text, "only B");
	CHECK(!cell_of(diff, "new", "site") && !cell_of(diff, "new", "calls_a"));

	CHECK_INT(cell_of(diff, "from zero", "wait_ns_change")->time_ns, 20);
	CHECK(!cell_of(diff, "from zero", "wait_ns_ratio"));
	CHECK_STR(cell_of(diff, "unmeasured", "in")->text, "both");
	CHECK(!cell_of(diff, "unmeasured", "wait_ns_change"));
	CHECK_INT(cell_of(diff, "unmeasured", "calls_b")->count, 7);
	CHECK(!cell_of(diff, "unmeasured", "calls_change"));

	CHECK_INT(cell_of(diff, "twice", "rows_a")->count, 2);
	CHECK_INT(cell_of(diff, "twice", "wait_ns_a")->time_ns, 400);
	CHECK_INT(cell_of(diff, "twice", "calls_change")->integer, 0);
	CHECK_INT(cell_of(diff, "twice", "max_ns_a")->time_ns, 150);
	CHECK(!cell_of(diff, "twice", "mean_ns_a") && !cell_of(diff, "twice", "share_pct_a"));
	CHECK_INT(cell_of(diff, "twice", "mean_ns_b")->time_ns, 125);

	CHECK_INT(diff->notes->len, 2);
	CHECK_STR((const char *)diff->notes->pdata[0], "A and B: of both");
	CHECK_STR((const char *)diff->notes->pdata[1], "B: of one");
	pp_table_free(a);
	pp_table_free(b);
}

/* Omitted rows, and the note about them. */
static void check_options(void)
{
	static const struct pp_diff_options changed = {.changed_only = true};
	static const struct pp_diff_options large = {.min_change_pct = 10};
	static const struct pp_diff_options first = {.top = 1};
	struct pp_table *a = new_table(), *b = new_table();
	const struct pp_table *diff;

	add(a, "same", "x", 100, 10);
	add(a, "little", "x", 100, 10);
	add(a, "much", "x", 100, 10);
	add(b, "much", "x", 110, 10);
	add(b, "little", "x", 109, 10);
	add(b, "same", "x", 100, 10);
	diff = compare(a, b, &changed);
	CHECK_INT(diff->rows->len, 2);
	CHECK_HOLDS((const char *)diff->notes->pdata[0],
		    "the same in A and B, and left out: 1 row");
	diff = compare(a, b, &large);
	CHECK_INT(diff->rows->len, 1);
	CHECK_STR(pp_table_cell(diff, 0, "name")->text, "much");
	CHECK_HOLDS((const char *)diff->notes->pdata[0], "wait_ns changed by less than 10 %");
	CHECK_HOLDS((const char *)diff->notes->pdata[0], "left out: 2 rows");
	diff = compare(a, b, &first);
	CHECK_INT(diff->rows->len, 1);
	CHECK_STR(pp_table_cell(diff, 0, "name")->text, "much");
	CHECK_HOLDS((const char *)diff->notes->pdata[0], "left out: 2 rows");
	diff = compare(a, NULL, &changed);
	CHECK_INT(diff->rows->len, 3);
	CHECK_STR(pp_table_cell(diff, 0, "in")->text, "only A");
	diff = compare(NULL, b, &changed);
	CHECK_STR(pp_table_cell(diff, 0, "in")->text, "only B");
	pp_table_free(a);
	pp_table_free(b);
}

static void check_names(void)
{
	static const struct pp_diff_options exact = {0}, no_lines = {.no_lines = true};
	struct pp_table *a = new_table(), *b = new_table();
	const struct pp_table *diff;

	/* Different names whose concatenation is the same text are different names. */
	add(a, "ab", "c", 1, 1);
	add(b, "a", "bc", 1, 1);
	add(a, "sem at main (a.c:12)", "f (b.cc:7)", 1, 1);
	add(b, "sem at main (a.c:13)", "f (b.cc:9)", 2, 1);
	add(a, "t:1", "x:2", 1, 1);
	add(b, "t:1", "x:3", 1, 1);
	CHECK_INT(compare(a, b, &exact)->rows->len, 6);
	diff = compare(a, b, &no_lines);
	CHECK_INT(diff->rows->len, 5);
	CHECK_STR(cell_of(diff, "sem at main (a.c)", "in")->text, "both");
	CHECK_STR(cell_of(diff, "sem at main (a.c)", "site")->text, "f (b.cc)");
	pp_table_free(a);
	pp_table_free(b);
}

/* Values that overflow, and a missing main figure: another figure then comes first. */
static void check_extremes(void)
{
	static const struct pp_diff_options all = {0};
	struct pp_table *a = new_table(), *b = new_table();
	const struct pp_table *diff;

	add(a, "huge", "x", INT64_MAX, -1);
	add(a, "huge", "x", INT64_MAX, -1);
	add(b, "huge", "x", 1, -1);
	pp_cell_set_count(&((struct pp_cell *)a->rows->pdata[0])[CALLS], UINT64_MAX);
	pp_cell_set_count(&((struct pp_cell *)a->rows->pdata[1])[CALLS], 1);
	diff = compare(a, b, &all);
	CHECK(!cell_of(diff, "huge", "wait_ns_a") && !cell_of(diff, "huge", "calls_a"));
	CHECK_INT(cell_of(diff, "huge", "max_ns_change")->time_ns, 1 / 2 - INT64_MAX / 2);
	pp_table_free(a);
	pp_table_free(b);

	a = new_table();
	b = new_table();
	add(a, "few", "x", -1, 1);
	add(a, "many", "x", -1, 1);
	add(b, "few", "x", -1, 2);
	add(b, "many", "x", -1, 9);
	diff = compare(a, b, &all);
	CHECK_STR(pp_table_cell(diff, 0, "name")->text, "many");
	CHECK_STR(diff->columns[5].key, "calls_a");
	pp_table_free(a);
	pp_table_free(b);
}

/* The main figure with both values and its change, other figures with the change. */
static void check_text(void)
{
	static const struct pp_diff_options changed = {.changed_only = true};
	struct pp_table *a = new_table(), *b = new_table();
	g_autoptr(GString) text = g_string_new(NULL);

	add(a, "grew", "x", 100, 10);
	add(b, "grew", "x", 1350, 5);
	add(b, "new", "x", 2, 0);
	pp_render_text(text, compare(a, b, &changed), &(struct pp_text_style){0});
	CHECK_HOLDS(text->str, "wait A");
	CHECK_HOLDS(text->str, "+1.25 us  13.50     -5  +625 ns");
	CHECK_HOLDS(text->str, "only B");
	CHECK(!strstr(text->str, "mean") && !strstr(text->str, "share") &&
	      !strstr(text->str, "rows"));
	pp_table_free(a);
	pp_table_free(b);
}

/* A table of one row without a name is shown vertically; a table without figures is not shown. */
static void check_shapes(void)
{
	static const struct pp_column one[] = {{"wall_ns", "wall time", PP_TYPE_TIME_NS, 0, ""},
					       {"calls", "calls", PP_TYPE_COUNT, 0, ""}};
	static const struct pp_diff_options all = {0};
	struct pp_table *a = pp_table_new("summary", "Summary", one, 2);
	struct pp_table *b = pp_table_new("summary", "Summary", one, 2);
	struct pp_table *names = pp_table_new("names", "Names", &columns[NAME], 1);
	GPtrArray *tables = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	g_autoptr(GString) text = g_string_new(NULL);

	pp_cell_set_time(&pp_table_add_row(a)[0], 2000);
	pp_cell_set_time(&pp_table_add_row(b)[0], 3000);
	pp_table_note(b, "of B");
	pp_table_diff(a, b, &all, tables);
	CHECK_INT(tables->len, 2);
	CHECK(((struct pp_table *)tables->pdata[0])->is_for_programs);
	pp_render_text(text, tables->pdata[1], &(struct pp_text_style){0});
	CHECK_STR(text->str, "Summary\n\n"
			     "                   A        B    change  ratio\n"
			     "  wall time  2.00 us  3.00 us  +1.00 us   1.50\n"
			     "\n  note: B: of B\n");
	g_string_truncate(text, 0);
	pp_render_json(text, (struct pp_table *const *)tables->pdata, tables->len);
	CHECK_HOLDS(text->str, "\"wall_ns_change\" : 1000");
	CHECK(g_strrstr(text->str, "B: of B") == strstr(text->str, "B: of B"));
	pp_table_add_row(names);
	pp_table_diff(names, names, &all, tables);
	CHECK_INT(tables->len, 2);
	g_ptr_array_unref(tables);
	pp_table_free(a);
	pp_table_free(b);
	pp_table_free(names);
}

/* A wait that was not idle is before one that was, though the latter changed more. */
static void check_order(void)
{
	enum { OBJECT, TIME, IDLE, N_WAITS };
	static const struct pp_column waits[N_WAITS] = {
	    [OBJECT] = {"object", "object", PP_TYPE_TEXT, PP_COLUMN_KEY, ""},
	    [TIME] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, ""},
	    [IDLE] = {"idle_ns", "idle", PP_TYPE_TIME_NS, PP_COLUMN_UNRANKED, ""},
	};
	static const struct {
		const char *object;
		int64_t wait_ns[2], idle_ns[2];
	} rows[] = {{"work", {5000, 9000}, {5000, 8900}}, {"lock", {300, 0}, {0, 0}}};
	static const struct pp_diff_options all = {0};
	const struct pp_table *diff;
	struct pp_table *runs[2];

	for (unsigned run = 0; run < 2; run++) {
		runs[run] = pp_table_new("waits", "Waits", waits, N_WAITS);
		for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
			struct pp_cell *row = pp_table_add_row(runs[run]);

			pp_cell_set_text(&row[OBJECT], rows[i].object);
			pp_cell_set_time(&row[TIME], rows[i].wait_ns[run]);
			pp_cell_set_time(&row[IDLE], rows[i].idle_ns[run]);
		}
	}
	diff = compare(runs[0], runs[1], &all);
	CHECK_STR(pp_table_cell(diff, 0, "object")->text, "lock");
	pp_table_free(runs[0]);
	pp_table_free(runs[1]);
}

int main(void)
{
	check_rows();
	check_order();
	check_options();
	check_names();
	check_extremes();
	check_text();
	check_shapes();
	compare(NULL, NULL, NULL);
	return 0;
}
