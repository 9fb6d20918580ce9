/* SPDX-License-Identifier: MIT */
/*
 * Searches text in a pane.  A hundred million operations have only a few names: each name is
 * compared once, and the result is cached during the search.
 */
#include "tui/browser.h"

enum answer { NOT_ASKED, NO, YES };

struct search {
	char *wanted;
	uint8_t operations[ST_N_EVENTS]; /* of enum answer, by kind of operation */
	uint8_t *sites, *others;	 /* of enum answer, by call site, and by object or thread */
};

/* Does one of these texts contain the wanted one, ignoring case? */
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

static bool object_has(struct pp_browser *browser, uint32_t number, const char *wanted)
{
	g_autofree char *label = pp_browser_object_label(browser, number, true);

	return holds(label, wanted) || holds(pp_browser_object_name(browser, number), wanted);
}

static void keep(uint8_t *answer, bool has)
{
	*answer = has ? YES : NO;
}

static bool other_has(struct pp_browser *browser, const struct pp_index_operation *operation,
		      const char *wanted)
{
	return browser->by_object ? thread_has(browser, operation->thread, wanted)
				  : object_has(browser, operation->object, wanted);
}

static bool operation_has(struct pp_browser *browser, uint32_t number, struct search *search)
{
	const struct pp_index *index = browser->index;
	const struct pp_index_operation *operation = pp_index_operation(index, number);
	uint32_t other;
	uint8_t none = NO, *op = &none, *site = &none;

	if (!operation)
		return false;
	other = browser->by_object ? operation->thread : operation->object;
	if (operation->op < ST_N_EVENTS)
		op = &search->operations[operation->op];
	if (operation->site < pp_index_n(index, PP_SECTION_SITES))
		site = &search->sites[operation->site];
	if (other >=
	    pp_index_n(index, browser->by_object ? PP_SECTION_THREADS : PP_SECTION_OBJECTS))
		return false;
	if (*op == NOT_ASKED)
		keep(op, holds(pp_sync_name(operation->op), search->wanted));
	if (*site == NOT_ASKED)
		keep(site, holds(pp_browser_site_name(browser, operation->site), search->wanted));
	if (search->others[other] == NOT_ASKED)
		keep(&search->others[other], other_has(browser, operation, search->wanted));
	return *op == YES || *site == YES || search->others[other] == YES;
}

static bool row_has(struct pp_browser *browser, enum pp_pane pane, uint64_t at,
		    struct search *search)
{
	switch (pane) {
	case PP_PANE_THREADS:
		return thread_has(browser, (uint32_t)at, search->wanted);
	case PP_PANE_OBJECTS:
		return object_has(browser, g_array_index(browser->objects, uint32_t, at),
				  search->wanted);
	default:
		return operation_has(browser, pp_browser_operation_at(browser, at), search);
	}
}

/* Operations between two checks of the keyboard: any key stops a long search. */
#define SLICE 100000

/* Operations that are read from the disk in advance. */
#define AHEAD 0x4000

static void want_ahead(const struct pp_browser *browser, uint64_t at, bool forward)
{
	if (forward && at % AHEAD == 0)
		pp_browser_want(browser, at + AHEAD, AHEAD, false);
	else if (!forward && at % AHEAD == AHEAD - 1 && at > AHEAD)
		pp_browser_want(browser, at - (2 * AHEAD - 1), AHEAD, false);
}

static void look_for(struct pp_browser *browser, enum pp_pane pane, bool forward,
		     struct search *search)
{
	bool threads = pane == PP_PANE_THREADS, objects = pane == PP_PANE_OBJECTS;
	uint64_t n = threads   ? pp_index_n(browser->index, PP_SECTION_THREADS)
		     : objects ? browser->objects->len
			       : pp_browser_n(browser);
	uint64_t at = threads ? browser->thread_at : objects ? browser->object_at : browser->at;

	for (uint64_t i = 0; i < n; i++) {
		bool was_end = forward ? at + 1 >= n : at == 0;

		at = forward ? (at + 1 >= n ? 0 : at + 1) : (at ? at - 1 : n - 1);
		if (was_end)
			pp_browser_say(browser, forward ? "search continued at the first"
							: "search continued at the last");
		if (!threads && !objects)
			want_ahead(browser, at, forward);
		if (row_has(browser, pane, at, search)) {
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

void pp_browser_search(struct pp_browser *browser, bool forward)
{
	enum pp_pane pane = browser->focus == PP_PANE_DETAILS ? PP_PANE_OPERATIONS : browser->focus;
	const struct pp_index *index = browser->index;
	struct search search = {.wanted = g_utf8_casefold(browser->search->str, -1)};

	if (*search.wanted) {
		search.sites = g_malloc0(pp_index_n(index, PP_SECTION_SITES));
		search.others = g_malloc0(MAX(pp_index_n(index, PP_SECTION_THREADS),
					      pp_index_n(index, PP_SECTION_OBJECTS)));
		look_for(browser, pane, forward, &search);
	} else {
		pp_browser_say(browser, "no search text: type / first");
	}
	g_free(search.wanted);
	g_free(search.sites);
	g_free(search.others);
}
