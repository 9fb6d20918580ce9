/* SPDX-License-Identifier: MIT */
/*
 * Draws a lane for each thread and object.  Each character shows the state that took most of its
 * time interval.  An object that was free for most of an interval, but not all, gets a light
 * character.
 */
#include "tui/browser.h"

struct look {
	char ascii;
	unsigned unicode;
	enum pp_style style;
	const char *name; /* NULL: not listed in the legend */
};

static const struct look thread_looks[PP_LANE_STATES] = {
    [PP_MODE_UNKNOWN] = {'?', '?', PP_STYLE_PLAIN, "unknown"},
    [PP_MODE_RUNNING] = {'#', 0x2588, PP_STYLE_GREEN, "running"},
    [PP_MODE_RUNNABLE] = {'+', 0x2592, PP_STYLE_YELLOW, "runnable"},
    [PP_MODE_BLOCKED_SYNC] = {'x', 0xd7, PP_STYLE_RED, "blocked"},
    [PP_MODE_BLOCKED_IO] = {'i', 'i', PP_STYLE_CYAN, "I/O"},
    [PP_MODE_BLOCKED_OTHER] = {'.', 0xb7, PP_STYLE_PLAIN, "otherwise"},
    [6] = {' ', ' ', PP_STYLE_PLAIN, NULL},
    [PP_LANE_GONE] = {' ', ' ', PP_STYLE_PLAIN, NULL},
};

static const struct look object_looks[PP_LANE_STATES] = {
    [PP_OBJECT_FREE] = {'.', 0xb7, PP_STYLE_PLAIN, "free"},
    [PP_OBJECT_HELD] = {'#', 0x2588, PP_STYLE_GREEN, "held"},
    [PP_OBJECT_CONTENDED] = {'%', 0x2593, PP_STYLE_YELLOW, "held with waiters"},
    [PP_OBJECT_WAITED] = {'x', 0xd7, PP_STYLE_RED, "waited for"},
    [4 ... PP_LANE_GONE] = {' ', ' ', PP_STYLE_PLAIN, NULL},
};

/* The object was in this state for less than half of the interval. */
static const struct look light_looks[PP_LANE_STATES] = {
    [PP_OBJECT_HELD] = {'_', 0x2581, PP_STYLE_GREEN, NULL},
    [PP_OBJECT_CONTENDED] = {'~', 0x2592, PP_STYLE_YELLOW, NULL},
    [PP_OBJECT_WAITED] = {'~', 0x2592, PP_STYLE_RED, NULL},
};

static unsigned most(const struct pp_index_sum *sum)
{
	unsigned best = PP_LANE_GONE;

	for (unsigned i = 0; i < PP_LANE_STATES; i++)
		if (sum->ns[i] > sum->ns[best])
			best = i;
	return best;
}

static const struct look *look_of(enum pp_pane pane, const struct pp_index_sum *sum)
{
	unsigned state = most(sum);

	if (pane == PP_PANE_THREADS)
		return &thread_looks[state];
	if (state == PP_OBJECT_FREE)
		for (unsigned i = PP_OBJECT_WAITED; i > PP_OBJECT_FREE; i--)
			if (sum->ns[i])
				return &light_looks[i];
	return &object_looks[state];
}

int pp_browser_lane_column(const struct pp_browser *browser)
{
	return CLAMP(browser->screen.columns / 4, 20, 44);
}

/* Returns which of the n intervals contains the cursor; -1: none of those shown. */
static int cursor_part(const struct pp_browser *browser, int n)
{
	double span = (double)(browser->to_ns - browser->from_ns);
	double at = (double)(browser->cursor_ns - browser->from_ns);

	if (at < 0 || at > span || span <= 0)
		return -1;
	return MIN((int)(at / span * n), n - 1);
}

static const struct look **looks_of_new(const struct pp_browser *browser, enum pp_pane pane,
					uint64_t lane, int n)
{
	const struct look **looks = g_new(const struct look *, n);
	g_autofree struct pp_index_sum *cells = g_new(struct pp_index_sum, n);

	pp_index_cells(browser->index, lane, browser->from_ns, browser->to_ns, (unsigned)n, cells);
	for (int i = 0; i < n; i++)
		looks[i] = look_of(pane, &cells[i]);
	return looks;
}

/* Enough for the screen and a few screens around it. */
#define MOST_KEPT 1000

static const struct look **looks_of(struct pp_browser *browser, enum pp_pane pane, uint64_t lane,
				    int n)
{
	struct pp_lanes_drawn *drawn = &browser->lanes;
	gpointer key = GSIZE_TO_POINTER(lane);
	const struct look **looks;

	if (drawn->from_ns != browser->from_ns || drawn->to_ns != browser->to_ns || drawn->n != n ||
	    g_hash_table_size(drawn->all) >= MOST_KEPT) {
		g_hash_table_remove_all(drawn->all);
		drawn->from_ns = browser->from_ns;
		drawn->to_ns = browser->to_ns;
		drawn->n = n;
	}
	looks = g_hash_table_lookup(drawn->all, key);
	if (!looks) {
		looks = looks_of_new(browser, pane, lane, n);
		g_hash_table_insert(drawn->all, key, looks);
	}
	return looks;
}

static void draw_lane(struct pp_browser *browser, enum pp_pane pane, int row, uint64_t lane)
{
	struct pp_screen *screen = &browser->screen;
	int column = pp_browser_lane_column(browser), n = screen->columns - column;
	const struct look **looks;
	int cursor = cursor_part(browser, n);

	if (n <= 0)
		return;
	looks = looks_of(browser, pane, lane, n);
	for (int i = 0; i < n; i++)
		pp_screen_glyph(screen, row, column + i, looks[i]->style, i == cursor,
				screen->utf8 ? looks[i]->unicode : (unsigned)looks[i]->ascii);
}

/* The first state is the least important of both kinds: it comes last, and is dropped first. */
static void put_legend(struct pp_browser *browser, int row, int column, const struct look *looks)
{
	struct pp_screen *screen = &browser->screen;

	for (unsigned state = 1; state <= PP_LANE_STATES; state++) {
		unsigned i = state % PP_LANE_STATES;
		int width = looks[i].name ? (int)strlen(looks[i].name) + 2 : 0;

		if (!width)
			continue;
		if (column + width > screen->columns)
			return;
		pp_screen_glyph(screen, row, column, looks[i].style, false,
				screen->utf8 ? looks[i].unicode : (unsigned)looks[i].ascii);
		pp_screen_put(screen, row, column + 2, width - 2, PP_STYLE_PLAIN, false,
			      looks[i].name);
		column += width + 1;
	}
}

static void draw_heading(struct pp_browser *browser, enum pp_pane pane, uint64_t n)
{
	bool threads = pane == PP_PANE_THREADS;
	g_autofree char *text =
	    g_strdup_printf("%s %" G_GUINT64_FORMAT "%s", threads ? "THREADS" : "OBJECTS", n,
			    !threads && browser->only_contended ? " contended" : "");
	int row = browser->areas[pane].top, column = pp_browser_lane_column(browser);

	pp_screen_put(&browser->screen, row, 0, column, PP_STYLE_BOLD, browser->focus == pane,
		      text);
	put_legend(browser, row, column + 1, threads ? thread_looks : object_looks);
}

static char *label_of(struct pp_browser *browser, enum pp_pane pane, uint64_t at)
{
	g_autofree char *name = NULL;

	if (pane == PP_PANE_OBJECTS)
		return pp_browser_object_label(browser,
					       g_array_index(browser->objects, uint32_t, at), true);
	name = pp_browser_thread_name(browser, (uint32_t)at);
	return g_strdup_printf("%7u %s", pp_index_thread(browser->index, at)->tid, name);
}

void pp_browser_draw_lanes(struct pp_browser *browser, enum pp_pane pane)
{
	const struct pp_area *area = &browser->areas[pane];
	bool threads = pane == PP_PANE_THREADS;
	uint64_t n_threads = pp_index_n(browser->index, PP_SECTION_THREADS);
	uint64_t n = threads ? n_threads : browser->objects->len;
	uint64_t at = threads ? browser->thread_at : browser->object_at;
	uint64_t *top = threads ? &browser->thread_top : &browser->object_top;
	int column = pp_browser_lane_column(browser);

	draw_heading(browser, pane, n);
	pp_browser_scroll(top, at, n, area->n);
	for (int i = 0; i < area->n && *top + (uint64_t)i < n; i++) {
		uint64_t row = *top + (uint64_t)i;
		g_autofree char *label = label_of(browser, pane, row);
		bool is_listed = row == at && browser->by_object == !threads;

		pp_screen_put(&browser->screen, area->top + 1 + i, 0, column - 1,
			      is_listed ? PP_STYLE_BOLD : PP_STYLE_PLAIN,
			      row == at && browser->focus == pane, label);
		draw_lane(browser, pane, area->top + 1 + i,
			  threads ? row
				  : n_threads + g_array_index(browser->objects, uint32_t, row));
	}
	if (!n)
		pp_screen_put(&browser->screen, area->top + 1, 2, 60, PP_STYLE_PLAIN, false,
			      threads			? "no threads"
			      : browser->only_contended ? "no object had waits"
							: "no operation was recorded");
}
