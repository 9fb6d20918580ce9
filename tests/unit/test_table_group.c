/* SPDX-License-Identifier: MIT */
/* The rows of similar threads combined, and the first rows of a table. */
#include "check.h"
#include "render/render.h"
#include "table/group.h"
#include "table/top.h"

enum { TID, GROUP, NAME, FUNCTION, WAIT, WAIT_MAX, MEAN, PCT, SHARE, CALLS, N };

static const struct pp_column columns[N] = {
    [TID] = {"tid", "tid", PP_TYPE_COUNT, PP_COLUMN_ID | PP_COLUMN_THREAD, ""},
    [GROUP] = {"group", "group", PP_TYPE_TEXT,
	       PP_COLUMN_JSON_ONLY | PP_COLUMN_KEY | PP_COLUMN_GROUP, ""},
    [NAME] = {"name", "name", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_THREAD, ""},
    [FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY, ""},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, ""},
    [WAIT_MAX] = {"wait_max_ns", "longest", PP_TYPE_TIME_NS, PP_COLUMN_MAX, ""},
    [MEAN] = {"mean_ns", "mean", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM, ""},
    [PCT] = {"pct", "%", PP_TYPE_PERCENT, 0, "", .mean_over = "wait_ns"},
    [SHARE] = {"share_pct", "share", PP_TYPE_PERCENT, PP_COLUMN_SHARE, ""},
    [CALLS] = {"calls", "calls", PP_TYPE_COUNT, PP_COLUMN_RANK, ""},
};

static void add(struct pp_table *table, unsigned tid, const char *group, const char *function,
		int64_t wait_ns, double pct, unsigned calls)
{
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_count(&row[TID], tid);
	pp_cell_set_text(&row[GROUP], group);
	pp_cell_set_text(&row[NAME], "name");
	pp_cell_set_text(&row[FUNCTION], function);
	pp_cell_set_time(&row[WAIT], wait_ns);
	pp_cell_set_time(&row[WAIT_MAX], wait_ns / 2);
	pp_cell_set_time(&row[MEAN], wait_ns / 4);
	pp_cell_set_number(&row[PCT], pct);
	pp_cell_set_number(&row[SHARE], (double)wait_ns / 10);
	if (calls)
		pp_cell_set_count(&row[CALLS], calls);
}

static struct pp_table *make_table(void)
{
	struct pp_table *table = pp_table_new("waits", "Waits", columns, N);

	add(table, 1, "main", "f", 100, 10, 5);
	add(table, 2, "work", "f", 300, 20, 7);
	add(table, 3, "work", "f", 100, 40, 9);
	add(table, 3, "work", "g", 500, 50, 1);
	/* A figure that one thread of a group lacks is missing. */
	add(table, 4, NULL, "f", 0, 30, 2);
	add(table, 5, NULL, "f", 10, 30, 0);
	return table;
}

static void check_text(const struct pp_table *table, const char *expected)
{
	g_autofree char *all = g_strconcat("Waits\n\n", expected, NULL);
	g_autoptr(GString) text = g_string_new(NULL);

	pp_render_text(text, table, &(struct pp_text_style){0});
	CHECK_STR(text->str, all);
}

static void check_group(void)
{
	struct pp_table *table = make_table(), *groups;
	g_autoptr(GString) text = g_string_new(NULL);

	pp_table_note(table, "kept");
	groups = pp_table_group(table);
	check_text(
	    groups,
	    "  group  function  threads    wait   least    most  longest      %  share  calls\n"
	    "  work   g               1  500 ns  500 ns  500 ns   250 ns  50.0%  50.0%      1\n"
	    "  work   f               2  400 ns  100 ns  300 ns   150 ns  25.0%  40.0%     16\n"
	    "  main   f               1  100 ns  100 ns  100 ns    50 ns  10.0%  10.0%      5\n"
	    "  -      f               2   10 ns       0   10 ns     5 ns  30.0%   1.0%      -\n"
	    "\n  note: kept\n");
	pp_render_csv_head(text, groups);
	CHECK_STR(text->str, "group,function,threads,wait_ns,least_wait_ns,most_wait_ns,"
			     "wait_max_ns,pct,share_pct,calls\n");
	pp_table_free(groups);
	table->is_in_order = true;
	CHECK(!pp_table_group(table));
	pp_table_free(table);
}

/* Two threads per row: the pairs are counted, and no thread has a least value. */
static void check_pairs(void)
{
	static const struct pp_column edges[] = {
	    {"from", "from", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_GROUP, ""},
	    {"to", "to", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_GROUP, ""},
	    {"count", "count", PP_TYPE_COUNT, 0, ""},
	};
	struct pp_table *table = pp_table_new("waits", "Waits", edges, 3), *groups;

	for (unsigned i = 1; i < 4; i++) {
		struct pp_cell *row = pp_table_add_row(table);

		pp_cell_set_text(&row[0], "a");
		pp_cell_set_text(&row[1], i < 3 ? "b" : "a");
		pp_cell_set_count(&row[2], i);
	}
	groups = pp_table_group(table);
	check_text(groups, "  from  to  pairs  count\n"
			   "  a     b       2      3\n"
			   "  a     a       1      3\n");
	pp_table_free(groups);
	pp_table_free(table);
}

static void check_top(void)
{
	static const struct pp_column plain[] = {{"name", "name", PP_TYPE_TEXT, 0, ""}};
	struct pp_table *table = make_table(), *texts = pp_table_new("waits", "Waits", plain, 1);

	/* The rows with the largest figure of the rank, not the first ones. */
	pp_table_keep_top(table, 6);
	CHECK_INT(table->notes->len, 0);
	pp_table_keep_top(table, 2);
	CHECK_INT(table->rows->len, 2);
	CHECK_INT(pp_table_cell(table, 0, "calls")->count, 9);
	CHECK_INT(pp_table_cell(table, 1, "calls")->count, 7);
	CHECK_STR(table->notes->pdata[0], "2 of 6 rows; 33.3 % of 'calls' is in the others");
	pp_table_free(table);
	/* In order of time: the rows with the largest main figure, in this order. */
	table = make_table();
	table->columns = g_memdup2(columns, sizeof(columns));
	((struct pp_column *)table->columns)[CALLS].flags = 0;
	table->is_in_order = true;
	pp_table_keep_top(table, 2);
	CHECK_INT(pp_table_cell(table, 0, "wait_ns")->time_ns, 300);
	CHECK_INT(pp_table_cell(table, 1, "wait_ns")->time_ns, 500);
	CHECK_STR(table->notes->pdata[0], "2 of 6 rows; 20.8 % of 'wait' is in the others");
	g_free((void *)table->columns);
	table->columns = columns;
	pp_table_free(table);
	/* Without figures, the first rows. */
	pp_cell_set_text(pp_table_add_row(texts), "first");
	pp_cell_set_text(pp_table_add_row(texts), "second");
	pp_table_keep_top(texts, 1);
	check_text(texts, "  name\n  first\n\n  note: 1 of 2 rows\n");
	pp_table_free(texts);
}

int main(void)
{
	check_group();
	check_pairs();
	check_top();
	return 0;
}
