/* SPDX-License-Identifier: MIT */
/* The action of each key. */
#include "tui/browser.h"

static bool is_list(const struct pp_browser *browser)
{
	return browser->focus != PP_PANE_DETAILS;
}

static int page_rows(const struct pp_browser *browser)
{
	return MAX(browser->areas[browser->focus].n - 1, 1);
}

static void move(struct pp_browser *browser, int64_t by)
{
	pp_browser_move(browser, browser->focus, by);
}

static void go_end(struct pp_browser *browser, bool last)
{
	if (is_list(browser))
		pp_browser_go(browser, browser->focus, last ? UINT64_MAX : 0);
	else
		browser->details_top = last ? PP_MANY_LINES : -PP_MANY_LINES;
}

static void next_pane(struct pp_browser *browser, int by)
{
	browser->focus = (enum pp_pane)(((int)browser->focus + by + PP_N_PANES) % PP_N_PANES);
	if (browser->focus == PP_PANE_THREADS || browser->focus == PP_PANE_OBJECTS)
		browser->details_top = 0;
}

static void choose(struct pp_browser *browser, bool object)
{
	browser->focus = object ? PP_PANE_OBJECTS : PP_PANE_THREADS;
	pp_browser_list(browser, object);
}

static void enter(struct pp_browser *browser)
{
	if (browser->focus == PP_PANE_THREADS || browser->focus == PP_PANE_OBJECTS) {
		pp_browser_list(browser, browser->focus == PP_PANE_OBJECTS);
		browser->focus = PP_PANE_OPERATIONS;
	} else {
		browser->focus = PP_PANE_DETAILS;
	}
}

/* Moves by one character of the lanes. */
static void move_cursor(struct pp_browser *browser, int by)
{
	int columns = MAX(browser->screen.columns - pp_browser_lane_column(browser), 1);
	int64_t step_ns = MAX((browser->to_ns - browser->from_ns) / columns, 1);

	pp_browser_set_cursor(browser, browser->cursor_ns + by * step_ns);
	pp_browser_follow_cursor(browser);
}

static void follow(struct pp_browser *browser, bool mate)
{
	const struct pp_index_operation *operation =
	    pp_index_operation(browser->index, pp_browser_operation(browser));
	const struct pp_index_more *more =
	    operation ? pp_index_more(browser->index, operation) : NULL;
	uint32_t to = PP_INDEX_NONE;

	if (operation && mate)
		to = operation->mate;
	else if (more && operation->flags & PP_INDEX_WAITED)
		to = more->acquisition;
	if (pp_index_operation(browser->index, to))
		pp_browser_jump(browser, to);
	else if (mate)
		pp_browser_say(browser, "no matching operation");
	else if (operation && operation->flags & PP_INDEX_WAITED)
		pp_browser_say(browser, "unknown by which call the object was held%s",
			       operation->mate == PP_INDEX_NONE
				   ? ""
				   : ": m shows the operation that ended the wait");
	else
		pp_browser_say(browser, "it did not wait");
}

/* --- the mouse ------------------------------------------------------------------------------ */

static void click(struct pp_browser *browser)
{
	int row = browser->screen.mouse_row, column = browser->screen.mouse_column;
	int lanes = pp_browser_lane_column(browser);

	for (unsigned i = 0; i < PP_N_PANES; i++) {
		enum pp_pane pane = (enum pp_pane)i;
		const struct pp_area *area = &browser->areas[i];
		bool has_lanes = pane == PP_PANE_THREADS || pane == PP_PANE_OBJECTS;
		int at = row - area->top - (pane == PP_PANE_OPERATIONS ? 2 : 1);
		uint64_t top = pane == PP_PANE_THREADS	 ? browser->thread_top
			       : pane == PP_PANE_OBJECTS ? browser->object_top
							 : browser->top;

		if (row < area->top || row > area->top + area->n)
			continue;
		browser->focus = pane;
		if (at < 0 || pane == PP_PANE_DETAILS)
			return;
		if (has_lanes && column >= lanes)
			pp_browser_set_cursor(
			    browser, browser->from_ns +
					 (int64_t)((double)(browser->to_ns - browser->from_ns) *
						   (column - lanes + 0.5) /
						   MAX(browser->screen.columns - lanes, 1)));
		pp_browser_go(browser, pane, top + (uint64_t)at);
		return;
	}
}

/* --- pages and typing ----------------------------------------------------------------------- */

static void page_key(struct pp_browser *browser, unsigned key)
{
	int rows = MAX(browser->screen.rows - 2, 1), by = 0;
	int last = MAX((int)pp_browser_page_rows(browser)->len - rows, 0);

	switch (key) {
	case 'j':
	case PP_KEY_DOWN:
	case PP_KEY_WHEEL_DOWN:
		by = 1;
		break;
	case 'k':
	case PP_KEY_UP:
	case PP_KEY_WHEEL_UP:
		by = -1;
		break;
	case ' ':
	case PP_KEY_PAGE_DOWN:
		by = rows;
		break;
	case PP_KEY_PAGE_UP:
		by = -rows;
		break;
	case PP_KEY_HOME:
		by = -last;
		break;
	case PP_KEY_END:
	case 'G':
		by = last;
		break;
	default:
		pp_browser_close_page(browser);
		return;
	}
	browser->page.top = (unsigned)CLAMP((int)browser->page.top + by, 0, last);
}

static void typing_key(struct pp_browser *browser, unsigned key)
{
	GString *search = browser->search;

	if (key == PP_KEY_ENTER) {
		browser->is_typing = false;
		pp_browser_search(browser, true);
	} else if (key == PP_KEY_ESCAPE) {
		browser->is_typing = false;
	} else if (key == PP_KEY_BACKSPACE) {
		if (!search->len)
			browser->is_typing = false;
		else
			g_string_truncate(
			    search,
			    (gsize)(g_utf8_prev_char(search->str + search->len) - search->str));
	} else if (key < PP_KEY_NONE && g_unichar_isprint(key)) {
		g_string_append_unichar(search, key);
	}
}

/* --- all other keys ------------------------------------------------------------------------- */

static void moving_key(struct pp_browser *browser, unsigned key)
{
	switch (key) {
	case 'j':
	case PP_KEY_DOWN:
		move(browser, 1);
		break;
	case 'k':
	case PP_KEY_UP:
		move(browser, -1);
		break;
	case PP_KEY_WHEEL_DOWN:
		move(browser, 3);
		break;
	case PP_KEY_WHEEL_UP:
		move(browser, -3);
		break;
	case ' ':
	case PP_KEY_PAGE_DOWN:
		move(browser, page_rows(browser));
		break;
	case PP_KEY_PAGE_UP:
		move(browser, -page_rows(browser));
		break;
	case PP_KEY_HOME:
	case PP_KEY_END:
	case 'G':
		go_end(browser, key != PP_KEY_HOME);
		break;
	case PP_KEY_LEFT:
	case PP_KEY_RIGHT:
		move_cursor(browser, key == PP_KEY_LEFT ? -1 : 1);
		break;
	default:
		break;
	}
}

static void command_key(struct pp_browser *browser, unsigned key)
{
	switch (key) {
	case '\t':
	case PP_KEY_BACKTAB:
		next_pane(browser, key == '\t' ? 1 : -1);
		break;
	case PP_KEY_ENTER:
		enter(browser);
		break;
	case '+':
	case '=':
	case '-':
		pp_browser_zoom(browser, key != '-');
		break;
	case '0':
		pp_browser_zoom_out(browser);
		break;
	case '[':
	case ']':
		pp_browser_step_wait(browser, key == ']');
		break;
	case 'c':
		pp_browser_toggle_contended(browser);
		break;
	case 't':
	case 'o':
		choose(browser, key == 'o');
		break;
	case 'm':
	case '%':
	case 'w':
		follow(browser, key != 'w');
		break;
	case 'b':
		pp_browser_follow_blame(browser);
		break;
	case PP_KEY_BACKSPACE:
		pp_browser_go_back(browser);
		break;
	case 's':
		browser->shows_source = !browser->shows_source;
		browser->details_top = 0;
		break;
	default:
		moving_key(browser, key);
		break;
	}
}

static void page_or_search_key(struct pp_browser *browser, unsigned key)
{
	switch (key) {
	case 'g':
		pp_browser_show_page(browser, pp_browser_graph(browser), "who waits for whom");
		break;
	case 'p':
	case 'P':
		pp_browser_show_page(browser, pp_browser_calltree(browser, key == 'P'),
				     key == 'P' ? "call tree, bottom-up" : "call tree");
		break;
	case 'h':
	case '?':
		pp_browser_show_page(browser, pp_browser_help(browser), "keys");
		break;
	case '/':
		g_string_truncate(browser->search, 0);
		browser->is_typing = true;
		break;
	case 'n':
	case 'N':
		pp_browser_search(browser, key == 'n');
		break;
	case PP_KEY_CLICK:
		click(browser);
		break;
	case 'q':
		browser->is_over = true;
		break;
	default:
		command_key(browser, key);
		break;
	}
}

void pp_browser_key(struct pp_browser *browser, unsigned key)
{
	if (key == PP_KEY_SIGNAL) {
		browser->is_over = true;
		return;
	}
	if (key == PP_KEY_NONE || key == PP_KEY_RESIZE)
		return;
	g_clear_pointer(&browser->message, g_free);
	if (browser->is_typing)
		typing_key(browser, key);
	else if (browser->page.lines)
		page_key(browser, key);
	else
		page_or_search_key(browser, key);
}
