/* SPDX-License-Identifier: MIT */
/*
 * The finding in words: a title, and one sentence whose parts are left out where they are not
 * known.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/blame/finding.h"
#include "core/text/duration.h"
#include "core/text/function_name.h"

/* Lesser parts of a time are not mentioned. */
#define LEAST_PART_PCT 10.0

const char *pp_finding_kind_name(enum pp_finding_kind kind)
{
	static const char *const names[PP_N_FINDING_KINDS] = {
	    [PP_FINDING_NOTHING] = "nothing",	  [PP_FINDING_HELD] = "held",
	    [PP_FINDING_PREEMPTED] = "preempted", [PP_FINDING_IO] = "io",
	    [PP_FINDING_SLEEP] = "sleep",	  [PP_FINDING_NESTED] = "nested",
	    [PP_FINDING_HOLDER] = "holder",	  [PP_FINDING_CALL] = "call",
	    [PP_FINDING_PASSED] = "passed",	  [PP_FINDING_NO_CPU] = "no-cpu",
	    [PP_FINDING_UNKNOWN] = "unknown",
	};

	return names[kind];
}

/* --- the title ------------------------------------------------------------------------------ */

/* The object as a class. */
static const char *noun_of(const struct pp_finding *finding)
{
	switch (finding->type) {
	case GM_SYNC_TYPE_sem:
		return "semaphore";
	case GM_SYNC_TYPE_cond:
		return "condition variable";
	case GM_SYNC_TYPE_barrier:
		return "barrier";
	default:
		return pp_sync_type_is_lock(finding->type) ? "lock" : "object";
	}
}

static char *call_title(const struct pp_finding *finding)
{
	switch (finding->type) {
	case GM_SYNC_TYPE_cond:
		return g_strdup("a signal comes late");
	case GM_SYNC_TYPE_barrier:
		return g_strdup("a thread is late at the barrier");
	case GM_SYNC_TYPE_thread:
		return g_strdup("a thread ends late");
	case GM_SYNC_TYPE_once:
		return g_strdup("an initialization takes long");
	default:
		return g_strdup("a post comes late");
	}
}

/* "the holder waits in write() with the lock held" */
static char *blocked_title(const struct pp_finding *finding, const char *verb, enum pp_mode mode,
			   const char *otherwise)
{
	const char *call = finding->blocked_in[mode];

	return g_strdup_printf("the holder %s%s%s with the %s held", verb, call ? " in " : "",
			       call ? call : otherwise, noun_of(finding));
}

char *pp_finding_title(const struct pp_finding *finding)
{
	const char *noun = noun_of(finding);

	switch (finding->kind) {
	case PP_FINDING_NOTHING:
		return g_strdup("nothing to blame");
	case PP_FINDING_HELD:
		return g_strdup_printf("the %s is held too long", noun);
	case PP_FINDING_PREEMPTED:
		return g_strdup_printf("the holder of the %s gets no CPU", noun);
	case PP_FINDING_IO:
		return blocked_title(finding, "waits", PP_MODE_BLOCKED_IO, " for I/O");
	case PP_FINDING_SLEEP:
		return blocked_title(finding, "sleeps", PP_MODE_BLOCKED_OTHER, "");
	case PP_FINDING_NESTED:
		return g_strdup_printf("the holder of the %s is blocked on %s", noun,
				       finding->blocked_in[PP_MODE_BLOCKED_SYNC]
					   ?: "another object");
	case PP_FINDING_HOLDER:
		return g_strdup_printf("threads wait for the holder of a %s", noun);
	case PP_FINDING_CALL:
		return call_title(finding);
	case PP_FINDING_PASSED:
		return pp_sync_type_is_lock(finding->type)
			   ? g_strdup("the lock is passed too often")
			   : g_strdup("threads continue late when they are woken");
	case PP_FINDING_NO_CPU:
		return g_strdup("waiters get no CPU");
	default:
		return g_strdup("the cause of the longest waits is unknown");
	}
}

/* --- parts of the sentence ------------------------------------------------------------------ */

static double percent(int64_t part_ns, int64_t all_ns)
{
	return all_ns > 0 ? 100.0 * (double)part_ns / (double)all_ns : 0;
}

static void append_percent(GString *text, double pct)
{
	g_string_append_printf(text, pct < 9.95 ? "%.1f %%" : "%.0f %%", pct);
}

/* "waits are 41 % of the threads' lifetimes, and 93 % of these are for " */
static void append_shares(GString *text, const struct pp_finding *finding)
{
	if (finding->lifetimes_ns > 0) {
		g_string_append(text, "waits are ");
		append_percent(text, percent(finding->waits_ns, finding->lifetimes_ns));
		g_string_append(text, " of the threads' lifetimes, and ");
	}
	append_percent(text, percent(finding->cause_ns, finding->waits_ns));
	g_string_append(text, finding->lifetimes_ns > 0 ? " of these are for "
							: " of the waits are for ");
}

/* "5 mutexes" */
static void append_number(GString *text, const struct pp_finding *finding)
{
	const char *type = pp_sync_type_name(finding->type);

	g_string_append_printf(text, "%" PRIu64 " %s%s", finding->n_objects, type,
			       g_str_has_suffix(type, "x") ? "es" : "s");
}

/* "table.lock (mutex)", "forks[].lock (5 mutexes)", "5 mutexes at main (a.c:12)" */
static void append_object(GString *text, const struct pp_finding *finding)
{
	const char *type = pp_sync_type_name(finding->type), *name = finding->object;
	g_autofree char *at = g_strconcat(type, " at ", NULL);

	if (finding->n_objects == 1) {
		g_string_append(text, name);
		if (!strstr(name, type))
			g_string_append_printf(text, " (%s)", type);
	} else if (g_str_has_prefix(name, at)) {
		append_number(text, finding);
		g_string_append(text, name + strlen(type));
	} else {
		g_string_append_printf(text, "%s (", name);
		append_number(text, finding);
		g_string_append_c(text, ')');
	}
}

/* A call site in its parts; each NULL if it is not known.  To be freed. */
struct place {
	char *function, *file, *line;
};

/* Divides "function (file:line)". */
static struct place place_of(const char *site)
{
	struct place place = {0};
	const char *open = site ? strrchr(site, '(') : NULL;
	const char *colon = open ? strrchr(open, ':') : NULL;
	bool has_line = open && open > site && open[-1] == ' ' && colon &&
			g_ascii_isdigit(colon[1]) && g_str_has_suffix(site, ")");

	if (!site)
		return place;
	place.function = has_line ? g_strndup(site, (gsize)(open - 1 - site)) : g_strdup(site);
	if (!pp_is_function_name(place.function))
		g_clear_pointer(&place.function, g_free);
	if (has_line) {
		place.file = g_strndup(open + 1, (gsize)(colon - open - 1));
		place.line = g_strndup(colon + 1, strlen(colon) - 2);
	}
	return place;
}

static void place_done(struct place *place)
{
	g_free(place->function);
	g_free(place->file);
	g_free(place->line);
}

static void append_function(GString *text, const char *function)
{
	g_string_append_printf(text, "%s%s", function, strchr(function, '(') ? "" : "()");
}

/* "table.c:88", or what else is known of the site. */
static void append_line(GString *text, const struct place *place, const char *site)
{
	if (place->line)
		g_string_append_printf(text, "%s:%s", place->file, place->line);
	else
		g_string_append(text, site);
}

/* "what insert() does while it holds lock, acquired at table.c:88 and released at :140" */
static void append_one_function(GString *text, const struct pp_finding *finding,
				const struct place *from, const struct place *to)
{
	g_string_append(text, "what ");
	append_function(text, to->function);
	g_string_append(text, " does while it holds ");
	append_object(text, finding);
	if (!from->line || !to->line)
		return;
	g_string_append(text, ", acquired at ");
	append_line(text, from, finding->acquired);
	g_string_append(text, " and released at ");
	if (g_str_equal(from->file, to->file))
		g_string_append_printf(text, ":%s", to->line);
	else
		append_line(text, to, finding->site);
}

static void append_hold(GString *text, const struct pp_finding *finding)
{
	struct place from = place_of(finding->acquired), to = place_of(finding->site);

	if (from.function && to.function && g_str_equal(from.function, to.function)) {
		append_one_function(text, finding, &from, &to);
	} else {
		append_object(text, finding);
		g_string_append(text, ", acquired at ");
		g_string_append(text, finding->acquired ? finding->acquired : "an unknown place");
		g_string_append(text, " and released at ");
		g_string_append(text, finding->site ? finding->site : "an unknown place");
	}
	place_done(&from);
	place_done(&to);
}

/* "done (cond), until notify() calls pthread_cond_signal at a.c:12" */
static void append_call(GString *text, const struct pp_finding *finding)
{
	const char *function = pp_sync_function(finding->op);
	struct place place = place_of(finding->site);

	append_object(text, finding);
	if (finding->op == ST_EVENT_thread_exit || finding->op == ST_N_EVENTS) {
		g_string_append(text, ", until it ends");
	} else {
		g_string_append(text, ", until ");
		if (place.function)
			append_function(text, place.function);
		else
			g_string_append(text, "a thread");
		g_string_append_printf(text, " calls %s", function ? function : "");
	}
	if (place.line) {
		g_string_append(text, " at ");
		append_line(text, &place, finding->site);
	}
	place_done(&place);
}

static void append_hand_over(GString *text, const struct pp_finding *finding)
{
	const struct pp_blame_figures *figures = &finding->figures;
	double runnable_pct = percent(figures->mode_ns[PP_MODE_RUNNABLE], figures->ns);

	append_object(text, finding);
	g_string_append(text,
			pp_sync_type_is_lock(finding->type)
			    ? ", after it was released and before the waiter ran"
			    : ", after the call that ended the wait and before the waiter ran");
	if (figures->n) {
		g_autofree char *mean = pp_duration_text(figures->ns / (int64_t)figures->n);

		g_string_append_printf(text, ", %s on average", mean);
	}
	if (runnable_pct >= LEAST_PART_PCT) {
		g_string_append(text, "; the waiter was ready without a CPU ");
		append_percent(text, runnable_pct);
		g_string_append(text, " of that time");
	}
}

/* The mode with the largest part of the time among those that are not in the set of bits. */
static unsigned largest_mode(const struct pp_blame_figures *figures, unsigned without)
{
	unsigned largest = PP_N_MODES;

	for (unsigned mode = 0; mode < PP_N_MODES; mode++)
		if (!(without >> mode & 1) &&
		    (largest == PP_N_MODES || figures->mode_ns[mode] > figures->mode_ns[largest]))
			largest = mode;
	return largest;
}

/* "running", "blocked in write()" */
static void append_mode(GString *text, const struct pp_finding *finding, enum pp_mode mode)
{
	static const char *const names[PP_N_MODES] = {
	    [PP_MODE_RUNNING] = "running",
	    [PP_MODE_RUNNABLE] = "ready without a CPU",
	    [PP_MODE_BLOCKED_SYNC] = "blocked on another object",
	    [PP_MODE_BLOCKED_IO] = "blocked in I/O",
	    [PP_MODE_BLOCKED_OTHER] = "asleep or blocked otherwise",
	};
	const char *in = finding->blocked_in[mode];

	if (in)
		g_string_append_printf(text, "blocked %s %s",
				       mode == PP_MODE_BLOCKED_SYNC ? "on" : "in", in);
	else
		g_string_append(text, names[mode]);
}

/*
 * "; its thread was running 86 % of that time, ready without a CPU 13 %"; nothing if none of this
 * is known.
 */
static void append_modes(GString *text, const struct pp_finding *finding)
{
	const struct pp_blame_figures *figures = &finding->figures;
	double unknown_pct = percent(figures->mode_ns[PP_MODE_UNKNOWN], figures->ns);
	unsigned done = 1u << PP_MODE_UNKNOWN;

	for (bool is_first = true;; is_first = false) {
		unsigned mode = largest_mode(figures, done);
		double pct = mode < PP_N_MODES ? percent(figures->mode_ns[mode], figures->ns) : 0;

		if (pct < LEAST_PART_PCT)
			break;
		g_string_append(text, is_first ? "; its thread was " : ", ");
		append_mode(text, finding, mode);
		g_string_append_c(text, ' ');
		append_percent(text, pct);
		g_string_append(text, is_first ? " of that time" : "");
		done |= 1u << mode;
	}
	if (done != 1u << PP_MODE_UNKNOWN && unknown_pct >= LEAST_PART_PCT) {
		g_string_append(text, "; for ");
		append_percent(text, unknown_pct);
		g_string_append(text, " this is not known");
	}
}

/* "; 4 threads wait for the lock, worker-1 (tid 12) for 45 % of its lifetime" */
static void append_waiters(GString *text, const struct pp_finding *finding)
{
	bool is_one = finding->n_waiters == 1;

	if (!finding->n_waiters || finding->waiter_lifetime_ns <= 0)
		return;
	if (is_one)
		g_string_append_printf(text, "; only %s waits", finding->waiter);
	else
		g_string_append_printf(text, "; %u threads wait", finding->n_waiters);
	g_string_append_printf(text, " for the %s%s, ", noun_of(finding),
			       finding->n_objects == 1 ? "" : "s");
	if (!is_one)
		g_string_append_printf(text, "%s ", finding->waiter);
	g_string_append(text, "for ");
	append_percent(text, percent(finding->waiter_ns, finding->waiter_lifetime_ns));
	g_string_append(text, " of its lifetime");
}

/* -------------------------------------------------------------------------------------------- */

static char *nothing_text(const struct pp_finding *finding)
{
	if (finding->all_ns <= 0)
		return g_strdup("there are no waits");
	if (finding->waits_ns <= 0)
		return g_strdup("all waits were idle");
	return g_strdup_printf("waits that are not idle are %.1f %% of the threads' lifetimes",
			       percent(finding->waits_ns, finding->lifetimes_ns));
}

char *pp_finding_text(const struct pp_finding *finding)
{
	GString *text;

	if (finding->kind == PP_FINDING_NOTHING)
		return nothing_text(finding);
	text = g_string_new(NULL);
	append_shares(text, finding);
	if (finding->is_hold) {
		append_hold(text, finding);
		append_modes(text, finding);
	} else if (finding->kind == PP_FINDING_CALL) {
		append_call(text, finding);
		append_modes(text, finding);
	} else if (finding->kind == PP_FINDING_UNKNOWN) {
		append_object(text, finding);
		g_string_append_printf(text, ": %s", pp_blame_why_text(finding->why));
	} else {
		append_hand_over(text, finding);
	}
	if (percent(finding->object_ns - finding->cause_ns, finding->waits_ns) >= LEAST_PART_PCT) {
		g_string_append(text, "; with all other causes, ");
		append_percent(text, percent(finding->object_ns, finding->waits_ns));
		g_string_append_printf(text, " of the waits are for %s",
				       finding->n_objects == 1 ? "it" : "them");
	}
	append_waiters(text, finding);
	return g_string_free(text, FALSE);
}
