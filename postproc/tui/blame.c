/* SPDX-License-Identifier: MIT */
/*
 * From a wait to what is to blame for it: the holds of other threads, or the calls that it waited
 * for, the largest part first.  The causes of the last such wait are remembered, so that the same
 * key goes from one to the next.
 */
#include <inttypes.h>

#include "core/text/duration.h"
#include "tui/browser.h"

/* The operation that is shown for a cause: the release, whose call path is to blame. */
static uint32_t shown_for(const struct pp_index_cause *cause)
{
	return cause->end == PP_INDEX_NONE ? cause->begin : cause->end;
}

static const struct pp_index_cause *cause_at(const struct pp_browser_blame *blame, guint i)
{
	return &g_array_index(blame->of.causes, struct pp_index_cause, i);
}

static guint n_causes(const struct pp_browser_blame *blame)
{
	return blame->of.causes ? blame->of.causes->len : 0;
}

/* "hand-over 12 us", "1.20 ms unknown: it timed out"; NULL: nothing is left. */
static char *rest_text(const struct pp_index_blame *blame)
{
	g_autofree char *rest = pp_duration_text(blame->rest_ns);
	const char *cut = blame->is_cut ? ", of the first operations during it" : "";

	if (blame->rest_ns <= 0)
		return blame->why ? g_strdup(blame->why) : NULL;
	if (blame->why)
		return g_strdup_printf("%s unknown: %s%s", rest, blame->why, cut);
	return g_strdup_printf("%s nobody: hand-over, until it ran%s", rest, cut);
}

/* Finds the causes of the wait, unless they are known. */
static void find_causes(struct pp_browser *browser, uint32_t wait)
{
	struct pp_browser_blame *blame = &browser->blame;

	if (blame->of.causes && blame->wait == wait)
		return;
	pp_index_blame_done(&blame->of);
	pp_index_blame_init(&blame->of, browser->index, wait);
	blame->wait = wait;
	blame->at = 0;
}

/* The cause that is shown, as the user goes from one to the next; NULL: none. */
static const struct pp_index_cause *shown_cause(const struct pp_browser *browser, uint32_t number)
{
	const struct pp_browser_blame *blame = &browser->blame;

	return blame->is_shown && blame->at < n_causes(blame) &&
		       shown_for(cause_at(blame, blame->at)) == number
		   ? cause_at(blame, blame->at)
		   : NULL;
}

static void show_cause(struct pp_browser *browser, guint at, bool is_first)
{
	struct pp_browser_blame *blame = &browser->blame;
	uint32_t number = shown_for(cause_at(blame, at));

	if (number == PP_INDEX_NONE) {
		const struct pp_index_cause *cause = cause_at(blame, at);
		g_autofree char *name = pp_browser_thread_label(browser, cause->thread);

		pp_browser_say(browser, "%s, without a recorded %s", name,
			       cause->is_hold ? "lock and unlock" : "call");
		return;
	}
	if (is_first)
		pp_browser_jump(browser, number);
	else
		pp_browser_show(browser, number);
	blame->at = at;
	blame->is_shown = true;
}

void pp_browser_follow_blame(struct pp_browser *browser)
{
	struct pp_browser_blame *blame = &browser->blame;
	uint32_t number = pp_browser_operation(browser);
	const struct pp_index_operation *operation = pp_index_operation(browser->index, number);
	const struct pp_index_cause *shown = shown_cause(browser, number);
	g_autofree char *rest = NULL;

	if (shown && n_causes(blame) > 1) {
		show_cause(browser, (blame->at + 1) % n_causes(blame), false);
		return;
	}
	if (!operation || !(operation->flags & PP_INDEX_WAITED)) {
		rest = shown ? rest_text(&blame->of) : NULL;
		pp_browser_say(browser, "%s%s%s", shown ? "no other cause" : "it did not wait",
			       rest ? "; the rest: " : "", rest ? rest : "");
		return;
	}
	find_causes(browser, number);
	if (n_causes(blame)) {
		show_cause(browser, 0, true);
		return;
	}
	rest = rest_text(&blame->of);
	pp_browser_say(browser, "to blame: %s", rest ? rest : "nobody");
}

/* --- details -------------------------------------------------------------------------------- */

static void add_share(GString *to, const char *name, uint64_t ns)
{
	g_autofree char *text = pp_duration_text((int64_t)MIN(ns, INT64_MAX));

	if (ns)
		g_string_append_printf(to, "%s%s %s", to->len ? ", " : "", name, text);
}

/* The modes of its thread during its part of the wait, as text; NULL: not known. */
static char *meanwhile(const struct pp_browser *browser, const struct pp_index_cause *cause)
{
	static const char *const names[PP_N_MODES] = {
	    [PP_MODE_RUNNING] = "running",	   [PP_MODE_RUNNABLE] = "runnable",
	    [PP_MODE_BLOCKED_SYNC] = "blocked",	   [PP_MODE_BLOCKED_IO] = "I/O",
	    [PP_MODE_BLOCKED_OTHER] = "otherwise",
	};
	g_autoptr(GString) shares = g_string_new(NULL);
	struct pp_index_sum sum;

	pp_index_shares(browser->index, cause->thread, cause->from_ns, cause->to_ns, &sum);
	for (unsigned mode = 0; mode < PP_N_MODES; mode++)
		if (names[mode])
			add_share(shares, names[mode], sum.ns[mode]);
	return shares->len ? g_strdup(shares->str) : NULL;
}

/* A hold or call that the user came to. */
static void add_shown(struct pp_browser *browser, GPtrArray *lines,
		      const struct pp_index_cause *cause)
{
	const struct pp_browser_blame *blame = &browser->blame;
	const struct pp_index_operation *wait = pp_index_operation(browser->index, blame->wait);
	g_autofree char *waiter = pp_browser_thread_label(browser, wait->thread);
	g_autofree char *part = pp_duration_text(cause->ns);
	g_autofree char *all = pp_duration_text(blame->of.wait_ns);
	g_autofree char *did = meanwhile(browser, cause);
	g_autofree char *number = n_causes(blame) > 1
				      ? g_strdup_printf(", cause %u of %u: b shows the next",
							blame->at + 1, n_causes(blame))
				      : g_strdup("");

	g_ptr_array_add(lines, g_strdup_printf("to blame for %s of %s that %s waited%s", part, all,
					       waiter, number));
	if (did)
		g_ptr_array_add(lines, g_strdup_printf("meanwhile: %s", did));
}

/* A wait that the user may start from. */
static void add_causes(struct pp_browser *browser, GPtrArray *lines, uint32_t number)
{
	struct pp_browser_blame *blame = &browser->blame;
	const struct pp_index_cause *cause;
	g_autofree char *rest = NULL, *name = NULL, *part = NULL, *others = NULL;

	find_causes(browser, number);
	rest = rest_text(&blame->of);
	if (!n_causes(blame)) {
		if (rest)
			g_ptr_array_add(lines, g_strdup_printf("to blame: %s", rest));
		return;
	}
	cause = cause_at(blame, 0);
	name = pp_browser_thread_label(browser, cause->thread);
	part = pp_duration_text(cause->ns);
	others = n_causes(blame) > 1 ? g_strdup_printf(", %u other%s", n_causes(blame) - 1,
						       n_causes(blame) > 2 ? "s" : "")
				     : g_strdup("");
	g_ptr_array_add(lines, g_strdup_printf("to blame (b): %s %s%s%s%s", part, name, others,
					       rest ? "; " : "", rest ? rest : ""));
}

void pp_browser_add_blame(struct pp_browser *browser, GPtrArray *lines, uint32_t number)
{
	const struct pp_index_operation *operation = pp_index_operation(browser->index, number);
	const struct pp_index_cause *shown = shown_cause(browser, number);

	if (shown)
		add_shown(browser, lines, shown);
	else if (operation && operation->flags & PP_INDEX_WAITED)
		add_causes(browser, lines, number);
}
