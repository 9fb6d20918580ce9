/* SPDX-License-Identifier: MIT */
/* The selection in the panes, and the commands that move it. */
#include "tui/browser.h"

void pp_browser_scroll(uint64_t *top, uint64_t at, uint64_t n, int rows)
{
	uint64_t fit = (uint64_t)MAX(rows, 1), around = MIN(fit / 4, 3);

	if (at < *top + around)
		*top = at > around ? at - around : 0;
	if (at + around >= *top + fit)
		*top = at + around - fit + 1;
	/* Scroll so that no row stays empty while there are items for it. */
	if (*top + fit > n)
		*top = n > fit ? n - fit : 0;
}

void pp_browser_close_page(struct pp_browser *browser)
{
	g_clear_pointer(&browser->page.lines, g_ptr_array_unref);
	g_clear_pointer(&browser->page.rows, g_ptr_array_unref);
}

static uint64_t n_shown(const struct pp_browser *browser, enum pp_pane pane)
{
	switch (pane) {
	case PP_PANE_THREADS:
		return pp_index_n(browser->index, PP_SECTION_THREADS);
	case PP_PANE_OBJECTS:
		return browser->objects->len;
	default:
		return pp_browser_n(browser);
	}
}

uint32_t pp_browser_thread(const struct pp_browser *browser)
{
	return browser->thread_at < pp_index_n(browser->index, PP_SECTION_THREADS)
		   ? (uint32_t)browser->thread_at
		   : PP_INDEX_NONE;
}

uint32_t pp_browser_object(const struct pp_browser *browser)
{
	return browser->object_at < browser->objects->len
		   ? g_array_index(browser->objects, uint32_t, browser->object_at)
		   : PP_INDEX_NONE;
}

static enum pp_index_list list_of(const struct pp_browser *browser, bool only_waits,
				  uint32_t *ret_of)
{
	*ret_of = browser->by_object ? pp_browser_object(browser) : pp_browser_thread(browser);
	if (browser->by_object)
		return only_waits ? PP_LIST_OBJECT_WAITS : PP_LIST_OBJECT;
	return only_waits ? PP_LIST_THREAD_WAITS : PP_LIST_THREAD;
}

uint64_t pp_browser_n(const struct pp_browser *browser)
{
	uint32_t of;
	enum pp_index_list list = list_of(browser, browser->only_contended, &of);

	return pp_index_list_n(browser->index, list, of);
}

uint32_t pp_browser_operation_at(const struct pp_browser *browser, uint64_t at)
{
	uint32_t of;
	enum pp_index_list list = list_of(browser, browser->only_contended, &of);

	return pp_index_list_at(browser->index, list, of, at);
}

void pp_browser_want(const struct pp_browser *browser, uint64_t at, uint64_t n, bool more)
{
	uint32_t of;
	enum pp_index_list list = list_of(browser, browser->only_contended, &of);

	pp_index_list_want(browser->index, list, of, at, n, more);
}

uint32_t pp_browser_operation(const struct pp_browser *browser)
{
	return pp_browser_operation_at(browser, browser->at);
}

/* --- moving --------------------------------------------------------------------------------- */

static void select_operation(struct pp_browser *browser, uint64_t at)
{
	const struct pp_index_operation *operation;

	browser->at = at;
	operation = pp_index_operation(browser->index, pp_browser_operation(browser));
	browser->details_top = 0;
	if (operation)
		pp_browser_set_cursor(browser, (int64_t)operation->time_ns);
}

void pp_browser_follow_cursor(struct pp_browser *browser)
{
	uint64_t n = pp_browser_n(browser), at;
	uint32_t of;
	enum pp_index_list list = list_of(browser, browser->only_contended, &of);

	at = pp_index_list_find(browser->index, list, of, (uint64_t)browser->cursor_ns);
	browser->at = MIN(at, n ? n - 1 : 0);
	browser->details_top = 0;
}

void pp_browser_list(struct pp_browser *browser, bool by_object)
{
	browser->by_object = by_object;
	browser->top = 0;
	pp_browser_follow_cursor(browser);
}

void pp_browser_go(struct pp_browser *browser, enum pp_pane pane, uint64_t to)
{
	uint64_t n = n_shown(browser, pane);

	to = MIN(to, n ? n - 1 : 0);
	browser->details_top = pane == PP_PANE_DETAILS ? browser->details_top : 0;
	switch (pane) {
	case PP_PANE_THREADS:
		browser->thread_at = to;
		pp_browser_list(browser, false);
		break;
	case PP_PANE_OBJECTS:
		browser->object_at = to;
		pp_browser_list(browser, true);
		break;
	default:
		select_operation(browser, to);
		break;
	}
}

/* Returns the item's position on the screen, if rows from there on are visible; see the callers. */
static uint64_t position_of(const struct pp_browser *browser, enum pp_pane pane)
{
	switch (pane) {
	case PP_PANE_THREADS:
		return browser->thread_at;
	case PP_PANE_OBJECTS:
		return browser->object_at;
	default:
		return browser->at;
	}
}

void pp_browser_move(struct pp_browser *browser, enum pp_pane pane, int64_t by)
{
	uint64_t at = position_of(browser, pane);

	if (pane == PP_PANE_DETAILS) {
		browser->details_top += (int)by;
		return;
	}
	if (by < 0)
		at -= MIN(at, (uint64_t)-by);
	else
		at += (uint64_t)by;
	pp_browser_go(browser, pane, at);
}

/* --- jumping -------------------------------------------------------------------------------- */

/* Returns PP_INDEX_NONE if the object is not shown. */
static uint32_t find_object(const struct pp_browser *browser, uint32_t object)
{
	for (guint i = 0; i < browser->objects->len; i++)
		if (g_array_index(browser->objects, uint32_t, i) == object)
			return i;
	return PP_INDEX_NONE;
}

/* Shows the operation in a list of the current kind, of another thread or object if necessary. */
static void show_operation(struct pp_browser *browser, uint32_t number)
{
	const struct pp_index_operation *operation = pp_index_operation(browser->index, number);
	enum pp_index_list list;
	uint64_t at;
	uint32_t of;
	bool found;

	if (!operation)
		return;
	if (browser->only_contended && !(operation->flags & PP_INDEX_WAITED))
		pp_browser_toggle_contended(browser);
	/* A condition wait's operations on its mutex are only in the mutex's list. */
	if (operation->flags & (PP_INDEX_REGAINED | PP_INDEX_YIELDED))
		browser->by_object = true;
	if (browser->by_object)
		browser->object_at = find_object(browser, operation->object);
	else
		browser->thread_at = operation->thread;
	list = list_of(browser, browser->only_contended, &of);
	at = pp_index_list_find_operation(browser->index, list, of, number, &found);
	select_operation(browser, at);
}

void pp_browser_show(struct pp_browser *browser, uint32_t number)
{
	browser->focus = PP_PANE_OPERATIONS;
	show_operation(browser, number);
}

void pp_browser_jump(struct pp_browser *browser, uint32_t number)
{
	uint32_t from = pp_browser_operation(browser);

	if (from != PP_INDEX_NONE)
		g_array_append_val(browser->back, from);
	pp_browser_show(browser, number);
}

void pp_browser_go_back(struct pp_browser *browser)
{
	uint32_t number;

	if (!browser->back->len) {
		pp_browser_say(browser, "no earlier jump");
		return;
	}
	number = g_array_index(browser->back, uint32_t, browser->back->len - 1);
	g_array_set_size(browser->back, browser->back->len - 1);
	show_operation(browser, number);
}

void pp_browser_step_wait(struct pp_browser *browser, bool forward)
{
	uint32_t of, now = pp_browser_operation(browser), next = PP_INDEX_NONE;
	enum pp_index_list waits = list_of(browser, true, &of);
	bool found = false;
	uint64_t at = now == PP_INDEX_NONE
			  ? 0
			  : pp_index_list_find_operation(browser->index, waits, of, now, &found);

	if (forward)
		next = pp_index_list_at(browser->index, waits, of, found ? at + 1 : at);
	else if (at > 0)
		next = pp_index_list_at(browser->index, waits, of, at - 1);
	if (next == PP_INDEX_NONE) {
		pp_browser_say(browser, forward ? "no wait after this" : "no wait before this");
		return;
	}
	pp_browser_show(browser, next);
}

/* --- objects -------------------------------------------------------------------------------- */

/* Longest waited for first.  Threads come last, because joins wait for all of them. */
static gint compare_objects(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct pp_index *index = data;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct pp_index_object *x = pp_index_object(index, i), *y = pp_index_object(index, j);
	bool x_is_thread = x->subject != PP_INDEX_NONE, y_is_thread = y->subject != PP_INDEX_NONE;

	if (x_is_thread != y_is_thread)
		return x_is_thread - y_is_thread;
	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	return i < j ? -1 : i > j;
}

static void choose_objects(struct pp_browser *browser)
{
	uint32_t n = (uint32_t)pp_index_n(browser->index, PP_SECTION_OBJECTS);

	g_array_set_size(browser->objects, 0);
	for (uint32_t i = 0; i < n; i++)
		if (!browser->only_contended || pp_index_object(browser->index, i)->contended)
			g_array_append_val(browser->objects, i);
	g_array_sort_with_data(browser->objects, compare_objects, (void *)browser->index);
}

void pp_browser_toggle_contended(struct pp_browser *browser)
{
	uint32_t object = pp_browser_object(browser), operation = pp_browser_operation(browser);
	uint32_t at;

	browser->only_contended = !browser->only_contended;
	choose_objects(browser);
	at = find_object(browser, object);
	browser->object_at = at == PP_INDEX_NONE ? 0 : at;
	browser->top = browser->object_top = 0;
	if (at != PP_INDEX_NONE && operation != PP_INDEX_NONE) {
		uint32_t of;
		enum pp_index_list list = list_of(browser, browser->only_contended, &of);
		bool found;

		browser->at =
		    pp_index_list_find_operation(browser->index, list, of, operation, &found);
	} else {
		pp_browser_follow_cursor(browser);
	}
	if (browser->at >= pp_browser_n(browser))
		pp_browser_go(browser, PP_PANE_OPERATIONS, browser->at);
}

/* --- opening and closing -------------------------------------------------------------------- */

void pp_browser_say(struct pp_browser *browser, const char *format, ...)
{
	va_list args;

	g_free(browser->message);
	va_start(args, format);
	browser->message = g_strdup_vprintf(format, args);
	va_end(args);
}

void pp_browser_init(struct pp_browser *browser, const struct pp_index *index,
		     const struct pp_namer *namer, const char *dir)
{
	*browser = (struct pp_browser){
	    .index = index, .namer = namer, .dir = dir, .cursor_ns = index->start_ns};
	browser->objects = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	browser->back = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	browser->search = g_string_new(NULL);
	browser->lanes.all = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	browser->thread_names = pp_browser_count_names(index);
	browser->object_names = g_new0(char *, pp_index_n(index, PP_SECTION_OBJECTS));
	browser->site_names = g_new0(char *, pp_index_n(index, PP_SECTION_SITES));
	browser->has_processes = pp_index_n(index, PP_SECTION_PROCESSES) > 1;
	choose_objects(browser);
	pp_browser_zoom_out(browser);
	browser->by_object = browser->objects->len > 0;
	browser->focus = browser->by_object ? PP_PANE_OBJECTS : PP_PANE_THREADS;
	pp_browser_go(browser, PP_PANE_OPERATIONS, 0);
}

static void names_free(char **names, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		g_free(names[i]);
	g_free(names);
}

void pp_browser_done(struct pp_browser *browser)
{
	g_hash_table_unref(browser->thread_names);
	names_free(browser->object_names, pp_index_n(browser->index, PP_SECTION_OBJECTS));
	names_free(browser->site_names, pp_index_n(browser->index, PP_SECTION_SITES));
	pp_browser_close_page(browser);
	g_array_unref(browser->objects);
	g_array_unref(browser->back);
	pp_index_blame_done(&browser->blame.of);
	g_hash_table_unref(browser->lanes.all);
	g_string_free(browser->search, TRUE);
	g_free(browser->message);
}
