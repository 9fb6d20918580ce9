/* SPDX-License-Identifier: MIT */
/* Looking for text in what a pane lists. */
#include "tui/browser.h"

/* Is it in any of these, whatever the case of its letters? */
static bool holds(const char *text, const char *wanted)
{
	g_autofree char *folded = g_utf8_casefold(text, -1);

	return strstr(folded, wanted) != NULL;
}

static bool thread_has(struct pp_browser *browser, uint32_t number, const char *wanted)
{
	const struct pp_index_thread *thread = pp_index_thread(browser->index, number);
	g_autofree char *name = pp_browser_thread_name(browser, number);
	g_autofree char *text = g_strdup_printf("%s %u", name, thread ? thread->tid : 0);

	return holds(text, wanted);
}

static bool operation_has(struct pp_browser *browser, uint32_t number, const char *wanted)
{
	const struct pp_index_operation *operation = pp_index_operation(browser->index, number);

	if (!operation)
		return false;
	if (operation->op < ST_N_EVENTS && holds(pp_sync_name(operation->op), wanted))
		return true;
	return holds(pp_browser_site_name(browser, operation->site), wanted) ||
	       (browser->by_object
		    ? thread_has(browser, operation->thread, wanted)
		    : holds(pp_browser_object_name(browser, operation->object), wanted));
}

static bool row_has(struct pp_browser *browser, enum pp_pane pane, uint64_t at, const char *wanted)
{
	switch (pane) {
	case PP_PANE_THREADS:
		return thread_has(browser, (uint32_t)at, wanted);
	case PP_PANE_OBJECTS:
		return holds(
		    pp_browser_object_name(browser, g_array_index(browser->objects, uint32_t, at)),
		    wanted);
	default:
		return operation_has(browser, pp_browser_operation_at(browser, at), wanted);
	}
}

/* Between two looks at the keyboard: whoever gets tired of a long search presses a key. */
#define SLICE 20000

void pp_browser_search(struct pp_browser *browser, bool forward)
{
	enum pp_pane pane = browser->focus == PP_PANE_DETAILS ? PP_PANE_OPERATIONS : browser->focus;
	bool threads = pane == PP_PANE_THREADS, objects = pane == PP_PANE_OBJECTS;
	uint64_t n = threads   ? pp_index_n(browser->index, PP_SECTION_THREADS)
		     : objects ? browser->objects->len
			       : pp_browser_n(browser);
	uint64_t at = threads ? browser->thread_at : objects ? browser->object_at : browser->at;
	g_autofree char *wanted = g_utf8_casefold(browser->search->str, -1);

	if (!*wanted) {
		pp_browser_say(browser, "nothing to search for: / begins");
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		bool was_end = forward ? at + 1 >= n : at == 0;

		at = forward ? (at + 1 >= n ? 0 : at + 1) : (at ? at - 1 : n - 1);
		if (was_end)
			pp_browser_say(browser,
				       forward ? "from the first again" : "from the last again");
		if (row_has(browser, pane, at, wanted)) {
			pp_browser_go(browser, pane, at);
			return;
		}
		if (i % SLICE == SLICE - 1 &&
		    pp_screen_key(&browser->screen, false) != PP_KEY_NONE) {
			pp_browser_say(browser, "search stopped");
			return;
		}
	}
	pp_browser_say(browser, "not found: %s", browser->search->str);
}
