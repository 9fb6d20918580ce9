/* SPDX-License-Identifier: MIT */
/* The period that the lanes show, and the cursor in it. */
#include "tui/browser.h"

/* The closest zoom: about one nanosecond per character. */
#define LEAST_SPAN_NS 100

static void clamp_window(struct pp_browser *browser, int64_t span_ns)
{
	const struct pp_index *index = browser->index;
	int64_t whole_ns = MAX(index->end_ns - index->start_ns, LEAST_SPAN_NS);

	span_ns = CLAMP(span_ns, LEAST_SPAN_NS, whole_ns);
	browser->from_ns =
	    CLAMP(browser->from_ns, index->start_ns, index->start_ns + whole_ns - span_ns);
	browser->to_ns = browser->from_ns + span_ns;
}

void pp_browser_set_cursor(struct pp_browser *browser, int64_t time_ns)
{
	const struct pp_index *index = browser->index;
	int64_t span_ns = browser->to_ns - browser->from_ns;

	browser->cursor_ns = CLAMP(time_ns, index->start_ns, index->end_ns);
	if (browser->cursor_ns >= browser->from_ns && browser->cursor_ns <= browser->to_ns)
		return;
	browser->from_ns = browser->cursor_ns - span_ns / 2;
	clamp_window(browser, span_ns);
}

/* Keeps the cursor's column on the screen. */
void pp_browser_zoom(struct pp_browser *browser, bool in)
{
	int64_t left_ns = browser->cursor_ns - browser->from_ns;
	int64_t span_ns = browser->to_ns - browser->from_ns;

	if (in) {
		browser->from_ns = browser->cursor_ns - left_ns / 2;
		clamp_window(browser, span_ns / 2);
	} else {
		browser->from_ns = browser->cursor_ns - left_ns * 2;
		clamp_window(browser, span_ns > INT64_MAX / 2 ? span_ns : span_ns * 2);
	}
}

void pp_browser_zoom_out(struct pp_browser *browser)
{
	browser->from_ns = browser->index->start_ns;
	clamp_window(browser, INT64_MAX);
}
