/* SPDX-License-Identifier: MIT */
/* Tables that are too wide for a line: which columns are left out, and which texts are cut. */
#include "check.h"
#include "render/fit.h"
#include "render/render.h"

enum { TID, NAME, ADDRESS, TOTAL, EMPTY, SHARE, DETAIL, LONGEST, SITE, N };

static const struct pp_column columns[N] = {
    [TID] = {"tid", "tid", PP_TYPE_COUNT, PP_COLUMN_ID, ""},
    [NAME] = {"name", "name", PP_TYPE_TEXT, PP_COLUMN_KEY, ""},
    [ADDRESS] = {"address", "address", PP_TYPE_ADDRESS, PP_COLUMN_ID | PP_COLUMN_REPEATED, ""},
    [TOTAL] = {"total_ns", "total", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, ""},
    [EMPTY] = {"empty", "empty", PP_TYPE_COUNT, PP_COLUMN_MORE, ""},
    [SHARE] = {"share_pct", "share", PP_TYPE_PERCENT, 0, ""},
    [DETAIL] = {"mean_ns", "mean", PP_TYPE_TIME_NS, PP_COLUMN_DETAIL, ""},
    [LONGEST] = {"longest_ns", "longest", PP_TYPE_TIME_NS, 0, ""},
    [SITE] = {"site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY, ""},
};

#define SHORT "main (a.c:1)"
#define LONG  "std::vector<int>::push_back(int) (vector.h:1234)"

static struct pp_table *make_table(const char *site)
{
	struct pp_table *table = pp_table_new("things", "Things", columns, N);
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_count(&row[TID], 1234);
	pp_cell_set_text(&row[NAME], "worker");
	pp_cell_set_count(&row[ADDRESS], 0x1000);
	pp_cell_set_time(&row[TOTAL], 1500);
	pp_cell_set_number(&row[SHARE], 12.5);
	pp_cell_set_time(&row[DETAIL], 10);
	pp_cell_set_time(&row[LONGEST], 900);
	pp_cell_set_text(&row[SITE], site);
	return table;
}

static void check_width(const char *site, unsigned width, const char *expected)
{
	struct pp_table *table = make_table(site);
	g_autofree char *all = g_strconcat("Things\n\n", expected, NULL);
	g_autoptr(GString) text = g_string_new(NULL);

	pp_render_text(text, table, &(struct pp_text_style){.width = width});
	CHECK_STR(text->str, all);
	pp_table_free(table);
}

static void check_columns(void)
{
	static const char whole[] =
	    "   tid  name    address    total  empty  share   mean  longest  site\n"
	    "  1234  worker   0x1000  1.50 us      -  12.5%  10 ns   900 ns  " SHORT "\n";

	check_width(SHORT, 0, whole);
	check_width(SHORT, 76, whole);
	/* A column without values first, then the lowest weight. */
	check_width(SHORT, 75,
		    "   tid  name    address    total  share   mean  longest  site\n"
		    "  1234  worker   0x1000  1.50 us  12.5%  10 ns   900 ns  " SHORT "\n"
		    "  left out: empty; --wide shows all columns\n");
	check_width(SHORT, 67,
		    "   tid  name    address    total  share  longest  site\n"
		    "  1234  worker   0x1000  1.50 us  12.5%   900 ns  " SHORT "\n"
		    "  left out: empty, mean; --wide shows all columns\n");
	/* The rightmost of equal weights; one that fits again returns. */
	check_width(SHORT, 60,
		    "   tid  name    address    total  share   mean  site\n"
		    "  1234  worker   0x1000  1.50 us  12.5%  10 ns  " SHORT "\n"
		    "  left out: empty, longest; --wide shows all columns\n");
	check_width(SHORT, 50,
		    "   tid  name    address    total  site\n"
		    "  1234  worker   0x1000  1.50 us  " SHORT "\n"
		    "  left out: empty, share, mean, longest; --wide\n"
		    "        shows all columns\n");
	/* Keys, ids and the main figure stay. */
	check_width(SHORT, 40,
		    "   tid  name      total  site\n"
		    "  1234  worker  1.50 us  " SHORT "\n"
		    "  left out: address, empty, share, mean,\n"
		    "        longest; --wide shows all\n"
		    "        columns\n");
}

static void check_cuts(void)
{
	/* A text is cut before a figure is left out, as long as it is readable ... */
	check_width(LONG, 100,
		    "   tid  name    address    total  empty  share   mean  longest  site\n"
		    "  1234  worker   0x1000  1.50 us      -  12.5%  10 ns   900 ns  "
		    "std::vector<int>:... (vector.h:1234)\n");
	/* ... and below that, if only what stays is left. */
	check_width(LONG, 40,
		    "   tid  name      total  site\n"
		    "  1234  worker  1.50 us  std::v...:1234)\n"
		    "  left out: address, empty, share, mean,\n"
		    "        longest; --wide shows all\n"
		    "        columns\n");
}

static void check_wrapped(const char *line, unsigned width, const char *expected)
{
	g_autoptr(GString) text = g_string_new(NULL);

	pp_fit_wrap(text, line, width, 4);
	CHECK_STR(text->str, expected);
}

static void check_cut(const char *text, unsigned width, bool at_end, const char *expected)
{
	g_autofree char *cut = pp_fit_cut(g_strdup(text), width, at_end);

	CHECK_STR(cut, expected);
}

int main(void)
{
	check_columns();
	check_cuts();
	check_cut("abcdefghij", 10, false, "abcdefghij");
	check_cut("abcdefghij", 9, false, "abc...hij");
	check_cut("abcdefghij", 8, false, "abc...ij");
	check_cut("abcdefghij", 8, true, "abcde...");
	check_cut("\303\266\303\266\303\266\303\266\303\266", 4, false, "\303\266...");
	check_wrapped("  one two three", 0, "  one two three");
	check_wrapped("  one two three", 15, "  one two three");
	check_wrapped("  one two three", 14, "  one two\n    three");
	check_wrapped("  one two three four", 9, "  one two\n    three\n    four");
	check_wrapped("  endlessly", 7, "  endle\n    ssl\n    y");
	return 0;
}
