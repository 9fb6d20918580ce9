/* SPDX-License-Identifier: MIT */
/*
 * Draws the whole screen: divides the rows among the panes, draws the first and last line, and
 * pages.
 */
#include <string.h>

#include "tui/browser.h"

#define LEAST_ROWS    16
#define LEAST_COLUMNS 60

/* Divides the rows between the first and the last line; headings are included. */
static void lay_out(struct pp_browser *browser)
{
	int rows = browser->screen.rows - 2;
	int n_threads = (int)MIN(pp_index_n(browser->index, PP_SECTION_THREADS), 1000);
	int n_objects = (int)MIN(browser->objects->len, 1000);
	int threads = CLAMP(n_threads + 1, 3, MAX(rows * 22 / 100, 4));
	int objects = CLAMP(n_objects + 1, 3, MAX(rows * 22 / 100, 4));
	int details = MAX(rows * 26 / 100, 5);
	int sizes[PP_N_PANES] = {threads, objects, rows - threads - objects - details, details};

	for (int i = 0, top = 1; i < PP_N_PANES; i++) {
		browser->areas[i] = (struct pp_area){top, sizes[i] - 1};
		top += sizes[i];
	}
}

static void put_line(struct pp_browser *browser, int row, enum pp_style style, const char *text)
{
	pp_screen_put(&browser->screen, row, 0, browser->screen.columns, style, false, text);
}

static void draw_title(struct pp_browser *browser)
{
	g_autofree char *from = pp_browser_seconds(browser, (uint64_t)browser->from_ns, 6);
	g_autofree char *to = pp_browser_seconds(browser, (uint64_t)browser->to_ns, 6);
	g_autofree char *cursor = pp_browser_seconds(browser, (uint64_t)browser->cursor_ns, 6);
	g_autofree char *text =
	    g_strdup_printf("gprof-mt browse %s%s  %s .. %s s, at %s", browser->dir,
			    browser->is_damaged ? " (damaged)" : "", from, to, cursor);

	put_line(browser, 0, PP_STYLE_REVERSE, text);
}

/* Returns as many hints as fit. */
static char *hints(const struct pp_browser *browser)
{
	static const char *const all[] = {
	    "q quit",  "h help", "Tab pane", "/ search", "[ ] waits",	"m match",
	    "b blame", "w who",	 "+ - zoom", "g graph",	 "c contended", "s source",
	};
	GString *text = g_string_new(all[0]);

	for (unsigned i = 1; i < G_N_ELEMENTS(all); i++)
		if (text->len + 2 + strlen(all[i]) <= (gsize)browser->screen.columns)
			g_string_append_printf(text, "  %s", all[i]);
	return g_string_free(text, FALSE);
}

static void draw_status(struct pp_browser *browser)
{
	g_autofree char *text = browser->is_typing ? g_strdup_printf("/%s", browser->search->str)
				: browser->message ? g_strdup(browser->message)
						   : hints(browser);

	put_line(browser, browser->screen.rows - 1, PP_STYLE_PLAIN, text);
}

/* Breaks at a blank, unless that leaves more than half of the columns empty. */
static const char *break_line(const struct pp_screen *screen, const char *text, int columns)
{
	const char *end = pp_screen_fit(screen, text, columns), *at = end;

	if (!*end)
		return end;
	while (at > text && at[-1] != ' ')
		at--;
	return at - text > (end - text) / 2 ? at : end;
}

/* Continues lines of more than `width` columns in the next row. */
static GPtrArray *wrap(const struct pp_screen *screen, const GPtrArray *lines, int width)
{
	GPtrArray *wrapped = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < lines->len; i++) {
		const char *at = lines->pdata[i], *end = break_line(screen, at, width);

		g_ptr_array_add(wrapped, g_strndup(at, (gsize)(end - at)));
		while (*end) {
			at = end;
			end = break_line(screen, at, width - 4);
			g_ptr_array_add(wrapped, g_strdup_printf("    %.*s", (int)(end - at), at));
		}
	}
	return wrapped;
}

static void draw_details(struct pp_browser *browser)
{
	const struct pp_area *area = &browser->areas[PP_PANE_DETAILS];
	g_autoptr(GPtrArray) all =
	    browser->shows_source ? pp_browser_source(browser) : pp_browser_details(browser);
	g_autoptr(GPtrArray) lines = browser->shows_source
					 ? g_ptr_array_ref(all)
					 : wrap(&browser->screen, all, browser->screen.columns);
	int n = (int)lines->len, first = 0, top;

	pp_screen_put(&browser->screen, area->top, 0, browser->screen.columns, PP_STYLE_BOLD,
		      browser->focus == PP_PANE_DETAILS,
		      browser->shows_source ? "SOURCE" : "DETAILS");
	/* Center the line of the call. */
	if (browser->shows_source)
		for (int i = 0; i < n; i++)
			if (((const char *)lines->pdata[i])[0] == '>')
				first = MAX(i - area->n / 2, 0);
	top = CLAMP(first + browser->details_top, 0, MAX(n - area->n, 0));
	browser->details_top = top - first;
	for (int i = 0; i < area->n && top + i < n; i++)
		put_line(browser, area->top + 1 + i, PP_STYLE_PLAIN, lines->pdata[top + i]);
}

/* --- pages ---------------------------------------------------------------------------------- */

void pp_browser_show_page(struct pp_browser *browser, GPtrArray *lines, const char *title)
{
	pp_browser_close_page(browser);
	browser->page = (struct pp_page){.lines = lines, .title = title};
}

const GPtrArray *pp_browser_page_rows(struct pp_browser *browser)
{
	struct pp_page *page = &browser->page;

	if (!page->rows || page->columns != browser->screen.columns) {
		g_clear_pointer(&page->rows, g_ptr_array_unref);
		page->columns = browser->screen.columns;
		page->rows = wrap(&browser->screen, page->lines, page->columns);
	}
	return page->rows;
}

static void draw_page(struct pp_browser *browser)
{
	const GPtrArray *lines = pp_browser_page_rows(browser);
	struct pp_page *page = &browser->page;
	guint n = (guint)browser->screen.rows - 2;
	g_autofree char *hints = NULL;

	page->top = MIN(page->top, lines->len > n ? lines->len - n : 0);
	n = MIN(n, lines->len - page->top);
	put_line(browser, 0, PP_STYLE_REVERSE, page->title);
	for (guint i = 0; i < n; i++)
		put_line(browser, 1 + (int)i, PP_STYLE_PLAIN, lines->pdata[page->top + i]);
	hints = g_strdup_printf("q back  j k scroll: %u to %u of %u", page->top + 1, page->top + n,
				lines->len);
	put_line(browser, browser->screen.rows - 1, PP_STYLE_PLAIN, hints);
}

void pp_browser_draw(struct pp_browser *browser)
{
	struct pp_screen *screen = &browser->screen;

	pp_screen_clear(screen);
	if (screen->rows < LEAST_ROWS || screen->columns < LEAST_COLUMNS) {
		g_autofree char *text =
		    g_strdup_printf("too small: %dx%d at least", LEAST_COLUMNS, LEAST_ROWS);

		put_line(browser, 0, PP_STYLE_PLAIN, text);
		put_line(browser, 1, PP_STYLE_PLAIN, "q quits");
	} else if (browser->page.lines) {
		draw_page(browser);
	} else {
		lay_out(browser);
		draw_title(browser);
		pp_browser_draw_lanes(browser, PP_PANE_THREADS);
		pp_browser_draw_lanes(browser, PP_PANE_OBJECTS);
		pp_browser_draw_operations(browser);
		draw_details(browser);
		draw_status(browser);
	}
	pp_screen_show(screen);
}
