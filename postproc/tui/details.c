/* SPDX-License-Identifier: MIT */
/* The details of the selected row, as lines of text. */
#include "core/text/duration.h"
#include "core/text/printable.h"
#include "tui/browser.h"

static void add(GPtrArray *lines, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void add(GPtrArray *lines, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(lines, g_strdup_vprintf(format, args));
	va_end(args);
}

/* --- threads and objects -------------------------------------------------------------------- */

static void add_share(GString *to, const char *name, uint64_t ns)
{
	g_autofree char *text = pp_duration_text((int64_t)MIN(ns, INT64_MAX));

	g_string_append_printf(to, "%s%s %s", to->len ? ", " : "", name, text);
}

/* Only needed if the capture has several processes. */
static void add_process(const struct pp_browser *browser, GPtrArray *lines, uint32_t number)
{
	const struct pp_process *process = pp_index_process(browser->index, number);

	if (process && browser->has_processes)
		add(lines, "of process %u", process->pid);
}

static char *window_text(const struct pp_browser *browser)
{
	g_autofree char *from = pp_browser_seconds(browser, (uint64_t)browser->from_ns, 6);
	g_autofree char *to = pp_browser_seconds(browser, (uint64_t)browser->to_ns, 6);

	return g_strdup_printf("%s to %s s", from, to);
}

static void add_thread(struct pp_browser *browser, GPtrArray *lines, uint32_t number)
{
	const struct pp_index_thread *thread = pp_index_thread(browser->index, number);
	g_autofree char *name = pp_browser_thread_name(browser, number);
	g_autofree char *window = window_text(browser);
	g_autofree char *from = NULL, *to = NULL;
	g_autoptr(GString) shares = g_string_new(NULL);
	struct pp_index_sum sum;

	add(lines, "thread %u, %s (tid %u)", thread->index, name, thread->tid);
	add_process(browser, lines, thread->process);
	if (!(thread->flags & PP_INDEX_SEEN)) {
		add(lines, "no events of this thread");
		return;
	}
	from = pp_browser_seconds(browser, (uint64_t)thread->start_ns, 6);
	to = pp_browser_seconds(browser, (uint64_t)thread->end_ns, 6);
	add(lines, "lived from %s to %s s", from, to);
	pp_index_shares(browser->index, number, browser->from_ns, browser->to_ns, &sum);
	if (browser->index->has_kernel && !(thread->flags & PP_INDEX_SCHEDULED)) {
		add(lines, "no scheduling events of this thread: unknown when it ran");
		return;
	}
	if (browser->index->has_kernel) {
		add_share(shares, "running", sum.ns[PP_MODE_RUNNING]);
		add_share(shares, "runnable", sum.ns[PP_MODE_RUNNABLE]);
	}
	add_share(shares, "blocked", sum.ns[PP_MODE_BLOCKED_SYNC]);
	/* Without scheduling events: in recorded blocking calls. */
	if (browser->index->has_kernel || sum.ns[PP_MODE_BLOCKED_IO])
		add_share(shares, "I/O", sum.ns[PP_MODE_BLOCKED_IO]);
	if (browser->index->has_kernel || sum.ns[PP_MODE_BLOCKED_OTHER])
		add_share(shares, "otherwise", sum.ns[PP_MODE_BLOCKED_OTHER]);
	if (sum.ns[PP_MODE_UNKNOWN])
		add_share(shares, "unknown", sum.ns[PP_MODE_UNKNOWN]);
	add(lines, "%s: %s", window, shares->str);
	if (!browser->index->has_kernel)
		add(lines, "no scheduling events were recorded: unknown when it ran");
}

/* Lists the states that it was in. */
static char *object_shares(const struct pp_browser *browser, uint32_t number)
{
	static const char *const names[PP_LANE_STATES] = {
	    [PP_OBJECT_FREE] = "free",
	    [PP_OBJECT_HELD] = "held without waiters",
	    [PP_OBJECT_CONTENDED] = "held with waiters",
	    [PP_OBJECT_WAITED] = "waited for",
	};
	g_autoptr(GString) shares = g_string_new(NULL);
	struct pp_index_sum sum;

	pp_index_shares(browser->index, pp_index_n(browser->index, PP_SECTION_THREADS) + number,
			browser->from_ns, browser->to_ns, &sum);
	for (unsigned i = 0; i < PP_LANE_STATES; i++)
		if (names[i] && sum.ns[i])
			add_share(shares, names[i], sum.ns[i]);
	return g_strdup(shares->len ? shares->str : "it did not exist");
}

static void add_object(struct pp_browser *browser, GPtrArray *lines, uint32_t number)
{
	const struct pp_index_object *object = pp_index_object(browser->index, number);
	const struct pp_process *process = pp_index_process(browser->index, object->process);
	g_autofree char *wait = pp_duration_text(object->wait_ns);
	g_autofree char *hold = pp_duration_text(object->hold_ns);
	g_autofree char *window = window_text(browser);
	g_autofree char *shares = object_shares(browser, number);
	g_autofree char *label = pp_browser_object_label(browser, number, true);

	add(lines, "%s (0x%" G_GINT64_MODIFIER "x)", label, object->address);
	add_process(browser, lines, object->process);
	if (process && process->only_waits)
		add(lines, "only waits were recorded: %" G_GUINT64_FORMAT ", %s in all",
		    object->contended, wait);
	else
		add(lines,
		    "acquired %" G_GUINT64_FORMAT ", waits %" G_GUINT64_FORMAT
		    ", waited for %s in all%s%s",
		    object->acquired, object->contended, wait, object->hold_ns ? ", held " : "",
		    object->hold_ns ? hold : "");
	add(lines, "%s: %s", window, shares);
}

/* --- operations ----------------------------------------------------------------------------- */

static const char *op_name(const struct pp_index_operation *operation)
{
	return operation->op < ST_N_EVENTS ? pp_sync_name(operation->op) : "?";
}

/* "sem_post by phil-3 (tid 31690) at 0.007839 s, in eat (philosophers.c:103)" */
static char *mention(struct pp_browser *browser, uint32_t number)
{
	const struct pp_index_operation *operation = pp_index_operation(browser->index, number);
	const struct pp_index_thread *thread;
	g_autofree char *name = NULL, *time = NULL;

	if (!operation)
		return NULL;
	thread = pp_index_thread(browser->index, operation->thread);
	name = pp_browser_thread_name(browser, operation->thread);
	time = pp_browser_seconds(browser, operation->time_ns, 6);
	return g_strdup_printf("%s by %s (tid %u) at %s s, in %s", op_name(operation), name,
			       thread ? thread->tid : 0, time,
			       pp_browser_site_name(browser, operation->site));
}

static void add_mention(struct pp_browser *browser, GPtrArray *lines, const char *what,
			uint32_t number)
{
	g_autofree char *text = mention(browser, number);

	if (text)
		add(lines, "%s: %s", what, text);
}

/* The search visits at most this many operations of the object. */
#define MOST_LOOKED_AT 100

/*
 * Returns the last release of the object before that operation; PP_INDEX_NONE: none, or not found.
 */
static uint32_t last_release(const struct pp_index *index, uint32_t object, uint32_t number)
{
	bool found;
	uint64_t at = pp_index_list_find_operation(index, PP_LIST_OBJECT, object, number, &found);

	for (unsigned i = 0; found && at > 0 && i < MOST_LOOKED_AT; i++) {
		uint32_t before = pp_index_list_at(index, PP_LIST_OBJECT, object, --at);
		const struct pp_index_operation *operation = pp_index_operation(index, before);

		if (operation && operation->flags & PP_INDEX_RELEASED)
			return before;
	}
	return PP_INDEX_NONE;
}

/* The holder at the start of the wait may differ from the last holder. */
static void add_holders(struct pp_browser *browser, GPtrArray *lines, uint32_t number,
			const struct pp_index_operation *operation,
			const struct pp_index_more *more)
{
	uint32_t release = pp_index_ender(browser->index, operation), last = PP_INDEX_NONE;

	if (operation->flags & PP_INDEX_ACQUIRED)
		last = last_release(browser->index, operation->object, number);
	add_mention(browser, lines, "taken with (w)", more->acquisition);
	add_mention(browser, lines, "released with", release);
	if (release != PP_INDEX_NONE && last != release)
		add_mention(browser, lines, "held by others then, the last until", last);
}

static void add_wait(struct pp_browser *browser, GPtrArray *lines, uint32_t number,
		     const struct pp_index_operation *operation)
{
	const struct pp_index_more *more = pp_index_more(browser->index, operation);
	g_autofree char *wait = pp_duration_text(pp_index_ns(browser->index, operation));
	g_autofree char *other = more ? pp_browser_thread_label(browser, more->other) : NULL;

	if (!more)
		return;
	add(lines, "waited %s%s%s%s (%s)", wait,
	    operation->flags & PP_INDEX_BLOCKED ? ", blocked" : "",
	    more->other == PP_INDEX_NONE ? "" : ", for ", more->other == PP_INDEX_NONE ? "" : other,
	    more->how < PP_N_WAIT_HOWS ? pp_wait_how_text(more->how) : "?");
	pp_browser_add_blame(browser, lines, number);
	if (more->how == PP_WAIT_HELD)
		add_holders(browser, lines, number, operation, more);
	else
		add_mention(browser, lines, "ended by (m)",
			    pp_index_ender(browser->index, operation));
}

/* Frames one after the other that read alike, as those of a recursion, are one line. */
static void add_frames(GPtrArray *lines, const GPtrArray *sites)
{
	unsigned n = 1;

	for (guint i = 0; i < sites->len; i += n) {
		const char *site = sites->pdata[i];
		g_autofree char *times = NULL;

		for (n = 1; i + n < sites->len && g_str_equal(sites->pdata[i + n], site);)
			n++;
		times = n > 1 ? g_strdup_printf(" x%u", n) : g_strdup("");
		add(lines, "  %s %s%s", i ? "by" : "in", site, times);
	}
}

static void add_path(struct pp_browser *browser, GPtrArray *lines,
		     const struct pp_index_operation *operation)
{
	const struct pp_index_more *more = pp_index_more(browser->index, operation);
	const struct pp_index_site *site = pp_index_site(browser->index, operation->site);
	const struct pp_process *process =
	    site ? pp_index_process(browser->index, site->process) : NULL;
	const struct pp_namer *namer = browser->namer;
	g_autoptr(GPtrArray) sites = g_ptr_array_new_with_free_func(g_free);
	const uint64_t *addresses;
	unsigned n = more ? pp_index_path(browser->index, more->path, &addresses) : 0;

	if (!process || !namer || !namer->frames)
		return;
	for (unsigned i = 0; i < MAX(n, 1); i++) {
		g_autoptr(GPtrArray) frames =
		    namer->frames(namer->data, process, n ? addresses[i] : site->address);

		for (guint j = 0; j < frames->len; j++)
			g_ptr_array_add(sites, g_strdup(pp_printable(
						   ((struct pp_frame *)frames->pdata[j])->site)));
	}
	add_frames(lines, sites);
	if (!n)
		add(lines, "  (callers not recorded: see sync.paths)");
}

static void add_operation(struct pp_browser *browser, GPtrArray *lines, uint32_t number)
{
	const struct pp_index_operation *operation = pp_index_operation(browser->index, number);
	const struct pp_index_thread *thread = pp_index_thread(browser->index, operation->thread);
	g_autofree char *name = pp_browser_thread_name(browser, operation->thread);
	g_autofree char *time = pp_browser_seconds(browser, operation->time_ns, 9);
	g_autofree char *result = operation->flags & PP_INDEX_FINISHED
				      ? g_strdup_printf("result %u", operation->result)
				      : g_strdup("it never returned");
	g_autofree char *object = pp_browser_object_label(browser, operation->object, true);

	add(lines, "%s s  %s by %s (tid %u), %s", time, op_name(operation), name,
	    thread ? thread->tid : 0, result);
	add(lines, "on %s", object);
	if (operation->flags & PP_INDEX_WAITED)
		add_wait(browser, lines, number, operation);
	else
		pp_browser_add_blame(browser, lines, number);
	if (operation->flags & PP_INDEX_RELEASED) {
		g_autofree char *hold = pp_duration_text(pp_index_ns(browser->index, operation));

		add(lines, "held %s", hold);
	}
	if (!(operation->flags & PP_INDEX_WAITED) ||
	    pp_index_ender(browser->index, operation) != operation->mate)
		add_mention(browser, lines, "matches (m)", operation->mate);
	add_path(browser, lines, operation);
}

GPtrArray *pp_browser_details(struct pp_browser *browser)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	uint32_t thread = pp_browser_thread(browser), object = pp_browser_object(browser);
	uint32_t operation = pp_browser_operation(browser);

	if (browser->focus == PP_PANE_THREADS && thread != PP_INDEX_NONE)
		add_thread(browser, lines, thread);
	else if (browser->focus == PP_PANE_OBJECTS && object != PP_INDEX_NONE)
		add_object(browser, lines, object);
	else if (operation != PP_INDEX_NONE)
		add_operation(browser, lines, operation);
	return lines;
}
