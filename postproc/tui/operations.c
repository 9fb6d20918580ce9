/* SPDX-License-Identifier: MIT */
/* The list of operations of one thread or object. */
#include "core/text/duration.h"
#include "tui/browser.h"

/* Columns; the last one takes the remaining width. */
enum { TIME, WHO, OPERATION, RESULT, WAIT, HELD, BY, SITE, N_COLUMNS };

static const struct {
	const char *title;
	int width, wide; /* on a narrow and on a wide screen; 0: omitted */
	bool right;
} columns[N_COLUMNS] = {
    [TIME] = {"time (s)", 11, 12, true},
    [WHO] = {"thread", 12, 20, false},
    [OPERATION] = {"operation", 15, 20, false},
    [RESULT] = {"result", 0, 6, true},
    [WAIT] = {"wait", 7, 8, true},
    [HELD] = {"held", 7, 8, true},
    [BY] = {"by", 9, 18, false},
    [SITE] = {"site", 200, 200, false},
};

#define WIDE 110

static void put_row(struct pp_browser *browser, int row, enum pp_style style, bool reverse,
		    const char *const cells[N_COLUMNS])
{
	struct pp_screen *screen = &browser->screen;
	bool wide = screen->columns >= WIDE;
	int column = 0;

	pp_screen_put(screen, row, 0, screen->columns, style, reverse, "");
	for (unsigned i = 0; i < N_COLUMNS; i++) {
		int width = wide ? columns[i].wide : columns[i].width;
		int len = (int)g_utf8_strlen(cells[i], -1);

		if (!width)
			continue;
		pp_screen_put(
		    screen, row, columns[i].right && len < width ? column + width - len : column,
		    columns[i].right && len < width ? len : width, style, reverse, cells[i]);
		column += width + 1;
	}
}

/* Returns the name of the thread that the wait was for. */
static char *name_other(struct pp_browser *browser, const struct pp_index_operation *operation)
{
	const struct pp_index_more *more = pp_index_more(browser->index, operation);

	if (!(operation->flags & PP_INDEX_WAITED) || !more)
		return g_strdup("");
	return pp_browser_thread_label(browser, more->other);
}

static enum pp_style style_of(const struct pp_index_operation *operation)
{
	if (!(operation->flags & PP_INDEX_FINISHED))
		return PP_STYLE_RED;
	return operation->flags & PP_INDEX_WAITED ? PP_STYLE_YELLOW : PP_STYLE_PLAIN;
}

static void draw_operation(struct pp_browser *browser, int row, uint32_t number, bool selected)
{
	const struct pp_index_operation *operation = pp_index_operation(browser->index, number);
	g_autofree char *time = pp_browser_seconds(browser, operation->time_ns, 6);
	g_autofree char *who = browser->by_object
				   ? pp_browser_thread_label(browser, operation->thread)
				   : pp_browser_object_label(browser, operation->object, false);
	g_autofree char *ns = pp_duration_text(pp_index_ns(browser->index, operation));
	g_autofree char *by = name_other(browser, operation);
	g_autofree char *result = operation->flags & PP_INDEX_FINISHED
				      ? g_strdup_printf("%u", operation->result)
				      : g_strdup("-");
	bool waited = operation->flags & PP_INDEX_WAITED;
	bool released = operation->flags & PP_INDEX_RELEASED;
	const char *cells[N_COLUMNS] = {
	    [TIME] = time,
	    [WHO] = who,
	    [OPERATION] = operation->op < ST_N_EVENTS ? pp_sync_name(operation->op) : "?",
	    [RESULT] = result,
	    [WAIT] = waited ? ns : "",
	    [HELD] = released ? ns : "",
	    [BY] = by,
	    [SITE] = pp_browser_site_name(browser, operation->site),
	};

	put_row(browser, row, style_of(operation), selected && browser->focus == PP_PANE_OPERATIONS,
		cells);
	if (selected && browser->focus != PP_PANE_OPERATIONS)
		pp_screen_glyph(&browser->screen, row, 0, PP_STYLE_BOLD, false, '>');
}

static void draw_heading(struct pp_browser *browser, uint64_t n)
{
	const char *cells[N_COLUMNS];
	struct pp_screen *screen = &browser->screen;
	int row = browser->areas[PP_PANE_OPERATIONS].top;
	uint32_t thread = pp_browser_thread(browser), object = pp_browser_object(browser);
	g_autofree char *name = browser->by_object ? pp_browser_object_label(browser, object, true)
						   : pp_browser_thread_label(browser, thread);
	g_autofree char *title =
	    g_strdup_printf("%s %s %s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT,
			    browser->only_contended ? "WAITS" : "OPERATIONS",
			    browser->by_object ? "on" : "by", name, n ? browser->at + 1 : 0, n);

	pp_screen_put(screen, row, 0, screen->columns, PP_STYLE_BOLD,
		      browser->focus == PP_PANE_OPERATIONS, title);
	for (unsigned i = 0; i < N_COLUMNS; i++)
		cells[i] = columns[i].title;
	if (!browser->by_object)
		cells[WHO] = "object";
	put_row(browser, row + 1, PP_STYLE_CYAN, false, cells);
}

void pp_browser_draw_operations(struct pp_browser *browser)
{
	const struct pp_area *area = &browser->areas[PP_PANE_OPERATIONS];
	uint64_t n = pp_browser_n(browser);
	int rows = area->n - 1; /* without the row of column titles */

	draw_heading(browser, n);
	pp_browser_scroll(&browser->top, browser->at, n, rows);
	pp_browser_want(browser, browser->top, (uint64_t)MAX(rows, 0), true);
	for (int i = 0; i < rows && browser->top + (uint64_t)i < n; i++) {
		uint64_t at = browser->top + (uint64_t)i;
		uint32_t number = pp_browser_operation_at(browser, at);

		if (number != PP_INDEX_NONE)
			draw_operation(browser, area->top + 2 + i, number, at == browser->at);
	}
	if (!n)
		pp_screen_put(&browser->screen, area->top + 2, 2, 60, PP_STYLE_PLAIN, false,
			      browser->only_contended ? "no wait" : "no operation");
}
