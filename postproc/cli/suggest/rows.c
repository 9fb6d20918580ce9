/* SPDX-License-Identifier: MIT */
/* A row per suggestion, with its sites in a nested table; as text, a paragraph per suggestion. */
#include "cli/suggest/rows.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/suggest/excerpt.h"
#include "cli/suggest/gain.h"
#include "core/text/printable.h"
#include "suggest/words.h"

enum { SITE, ROLE, SECTIONS, SITE_UNKNOWN, RUNS, EXIT, CONFLICTING, SOURCE, N_SITE_COLUMNS };

static const struct pp_column site_columns[N_SITE_COLUMNS] = {
    [SITE] = {"site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY, "call that enters the sections"},
    [ROLE] = {"role", "needs", PP_TYPE_TEXT, 0, "which lock, if the suggestion is followed"},
    [SECTIONS] = {"sections", "sections", PP_TYPE_COUNT, 0, "in all runs with accesses"},
    [SITE_UNKNOWN] = {"unknown", "unknown", PP_TYPE_COUNT, 0,
		      "of these, sections without known accesses"},
    [RUNS] = {"runs", "runs", PP_TYPE_COUNT, PP_COLUMN_NO_SUM, "that have such sections"},
    [EXIT] = {"exit", "left at", PP_TYPE_TEXT, 0, "call that leaves them; none: several"},
    [CONFLICTING] = {"conflicting", "conflicts at", PP_TYPE_TEXT, 0,
		     "code that accesses memory in which sections conflict"},
    [SOURCE] = {"source", "source", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY,
		"its lines; '>': lock and unlock, '*': conflicting accesses"},
};

enum {
	LOCK,
	PATTERN,
	ACTION,
	REPORTED,
	CHANGE,
	ERROR,
	FIDELITY,
	WHY,
	PAIRS,
	UNNECESSARY,
	CONFLICTS,
	UNDECIDED,
	THREADS,
	N_RUNS,
	ALL_RUNS,
	DATA,
	UNEXERCISED,
	SITES,
	N_COLUMNS
};

static const struct pp_column columns[N_COLUMNS] = {
    [LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY, "the lock"},
    [PATTERN] =
	{"pattern", "pattern", PP_TYPE_TEXT, PP_COLUMN_KEY,
	 "null-shared, read-read, null-shared groups, read-read sites, low-degree conflict"},
    [ACTION] = {"action", "action", PP_TYPE_TEXT, 0, "what to change"},
    [REPORTED] = {"reported_only", "reported only", PP_TYPE_BOOL, PP_COLUMN_JSON_ONLY,
		  "how to change the program is not known"},
    [CHANGE] = {"change_pct", "change%", PP_TYPE_PERCENT, PP_COLUMN_SIGNED | PP_COLUMN_MAIN,
		"predicted change of the run time"},
    [ERROR] = {"change_error_pct", "+/-%", PP_TYPE_PERCENT, PP_COLUMN_STAYS,
	       "half of its 95 % confidence interval"},
    [FIDELITY] = {"fidelity_pct", "fidelity%", PP_TYPE_PERCENT, 0,
		  "the largest difference of a replay of the recorded run to its time"},
    [WHY] = {"why", "why", PP_TYPE_TEXT, 0, "why there is no prediction"},
    [PAIRS] = {"pairs", "pairs", PP_TYPE_COUNT, 0,
	       "consecutive sections of different threads, in all runs with accesses"},
    [UNNECESSARY] = {"unnecessary_pairs", "unnecessary", PP_TYPE_COUNT, 0,
		     "of these, pairs that need not exclude each other"},
    [CONFLICTS] = {"true_pairs", "true", PP_TYPE_COUNT, 0, "pairs that conflict"},
    [UNDECIDED] = {"undecided_pairs", "undecided", PP_TYPE_COUNT, 0,
		   "pairs of which that is not known"},
    [THREADS] = {"threads", "threads", PP_TYPE_COUNT, PP_COLUMN_MAX,
		 "that take the lock, the most in a run"},
    [N_RUNS] = {"runs", "runs", PP_TYPE_COUNT, PP_COLUMN_NO_SUM,
		"runs with accesses in which the lock was taken"},
    [ALL_RUNS] = {"all_runs", "of", PP_TYPE_COUNT, PP_COLUMN_NO_SUM, "all runs with accesses"},
    [DATA] = {"data", "data", PP_TYPE_TEXT, 0, "variables in which sections conflict"},
    [UNEXERCISED] = {"not_exercised", "not exercised", PP_TYPE_TEXT, 0,
		     "what the runs do not tell"},
    [SITES] = {"sites", "sites", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY,
	       "call sites that take the lock", site_columns, N_SITE_COLUMNS},
};

/* --- cells ------------------------------------------------------------------------------------ */

static void set_owned(struct pp_cell *cell, char *text)
{
	pp_cell_set_text(cell, text);
	g_free(text);
}

/* NULL: there are none. */
static char *join(const GPtrArray *names)
{
	g_autoptr(GString) all = g_string_new(NULL);

	for (guint i = 0; i < names->len; i++)
		g_string_append_printf(all, "%s%s", i ? ", " : "", (const char *)names->pdata[i]);
	return names->len ? g_strdup(all->str) : NULL;
}

static struct pp_table *sites_of(const struct pp_suggest_runs *runs,
				 const struct pp_suggestion *suggestion)
{
	struct pp_table *table = pp_table_new_nested(&columns[SITES]);
	const struct pp_suggest_lock *lock = suggestion->lock;

	for (guint i = 0; i < lock->sites->len; i++) {
		const struct pp_suggest_site *site = lock->sites->pdata[i];
		struct pp_cell *row = pp_table_add_row(table);
		const char *why;

		pp_cell_set_text(&row[SITE], site->name);
		set_owned(&row[ROLE], pp_suggest_role(suggestion, i));
		pp_cell_set_count(&row[SECTIONS], site->n);
		pp_cell_set_count(&row[SITE_UNKNOWN], site->n_unknown);
		pp_cell_set_count(&row[RUNS], site->n_runs);
		pp_cell_set_text(&row[EXIT], site->exit);
		set_owned(&row[CONFLICTING], join(site->conflicting));
		set_owned(&row[SOURCE], pp_suggest_excerpt(site, runs->sources, &why));
	}
	return table;
}

static void set_pairs(struct pp_cell *row, const struct pp_suggest_lock *lock)
{
	uint64_t known;

	pp_cell_set_count(&row[UNNECESSARY], pp_suggest_unnecessary(lock, &known));
	pp_cell_set_count(&row[PAIRS], known);
	pp_cell_set_count(&row[CONFLICTS], pp_suggest_pairs(lock, PP_ULCP_TRUE));
	pp_cell_set_count(&row[UNDECIDED], pp_suggest_pairs(lock, PP_ULCP_UNDECIDED));
}

static void add_row(struct pp_table *table, const struct pp_suggest_runs *runs,
		    const struct pp_suggestion *suggestion)
{
	struct pp_cell *row = pp_table_add_row(table);
	const struct pp_suggest_lock *lock = suggestion->lock;

	pp_cell_set_text(&row[LOCK], lock->name);
	pp_cell_set_text(&row[PATTERN], pp_suggest_patterns[suggestion->pattern]);
	set_owned(&row[ACTION], pp_suggest_action(suggestion));
	pp_cell_set_bool(&row[REPORTED], suggestion->pattern == PP_SUGGEST_LOW);
	if (suggestion->has_gain) {
		pp_cell_set_number(&row[CHANGE], suggestion->change_pct);
		pp_cell_set_number(&row[ERROR], suggestion->error_pct);
		pp_cell_set_number(&row[FIDELITY], suggestion->fidelity_pct);
	}
	pp_cell_set_text(&row[WHY], suggestion->why);
	set_pairs(row, lock);
	pp_cell_set_count(&row[THREADS], lock->n_threads);
	pp_cell_set_count(&row[N_RUNS], lock->n_runs);
	pp_cell_set_count(&row[ALL_RUNS], runs->facts.n_runs);
	set_owned(&row[DATA], pp_suggest_data(lock));
	set_owned(&row[UNEXERCISED], pp_suggest_not_exercised(suggestion, &runs->facts));
	pp_cell_set_table(&row[SITES], sites_of(runs, suggestion));
}

/* --- text ------------------------------------------------------------------------------------- */

static void append_item(GString *to, const char *name, const char *text)
{
	g_autofree char *printable = text ? pp_printable(g_strdup(text)) : NULL;

	if (printable)
		g_string_append_printf(to, "    %-14s %s\n", name, printable);
}

static void append_sites(GString *to, const struct pp_suggest_runs *runs,
			 const struct pp_suggestion *suggestion)
{
	const struct pp_suggest_lock *lock = suggestion->lock;

	for (guint i = 0; i < lock->sites->len; i++) {
		const struct pp_suggest_site *site = lock->sites->pdata[i];
		g_autofree char *role = pp_suggest_role(suggestion, i);
		g_autofree char *head =
		    g_strdup_printf("%s: %s, %" PRIu64 " sections", site->name, role, site->n);
		const char *why;
		g_autofree char *source = pp_suggest_excerpt(site, runs->sources, &why);
		g_auto(GStrv) lines = source ? g_strsplit(source, "\n", -1) : NULL;

		append_item(to, i ? "" : "sites", head);
		for (guint k = 0; lines && lines[k]; k++)
			if (*lines[k])
				append_item(to, "", lines[k]);
		if (!lines) {
			g_autofree char *text = g_strdup_printf("  no source: %s", why);

			append_item(to, "", text);
		}
	}
}

static char *gain_text(const struct pp_suggestion *suggestion)
{
	if (!suggestion->has_gain)
		return g_strdup_printf("not known: %s", suggestion->why ? suggestion->why
									: "no run can be replayed");
	return g_strdup_printf("%+.1f %% of the run time, +-%.1f; the replay of the recorded run "
			       "is within %.1f %% of it",
			       suggestion->change_pct, suggestion->error_pct,
			       suggestion->fidelity_pct);
}

static void append_suggestion(GString *to, unsigned number, const struct pp_suggest_runs *runs,
			      const struct pp_suggestion *suggestion)
{
	g_autofree char *action = pp_suggest_action(suggestion);
	g_autofree char *evidence = pp_suggest_evidence(suggestion);
	g_autofree char *data = pp_suggest_data(suggestion->lock);
	g_autofree char *open = pp_suggest_not_exercised(suggestion, &runs->facts);
	g_autofree char *gain = gain_text(suggestion);
	g_autofree char *lock = pp_printable(g_strdup(suggestion->lock->name));
	g_autofree char *seen =
	    g_strdup_printf("%u of %u runs, up to %u threads", suggestion->lock->n_runs,
			    runs->facts.n_runs, suggestion->lock->n_threads);

	g_string_append_printf(to, "%s%3u %s: %s\n", number > 1 ? "\n" : "", number, lock, action);
	append_item(to, "prediction", gain);
	append_item(to, "pattern", pp_suggest_patterns[suggestion->pattern]);
	append_item(to, "evidence", evidence);
	append_item(to, "", seen);
	append_item(to, "conflicts in", data);
	append_item(to, "not exercised", open);
	append_sites(to, runs, suggestion);
}

/* --- the table -------------------------------------------------------------------------------- */

/* A change that does not shorten the run by more than its error is no suggestion. */
static bool is_worth_it(const struct pp_suggestion *suggestion)
{
	return !suggestion->has_gain || (suggestion->change_pct < -PP_SUGGEST_LEAST_PCT &&
					 suggestion->change_pct < -suggestion->error_pct);
}

static int compare(const void *x, const void *y)
{
	const struct pp_suggestion *a = *(const struct pp_suggestion *const *)x;
	const struct pp_suggestion *b = *(const struct pp_suggestion *const *)y;

	if (a->has_gain != b->has_gain)
		return a->has_gain ? -1 : 1;
	return (a->change_pct > b->change_pct) - (a->change_pct < b->change_pct);
}

static void add_notes(struct pp_table *table, const struct pp_suggest_runs *runs, unsigned n_idle)
{
	if (!table->rows->len)
		pp_table_note(table, "nothing is suggested: no lock shows a pattern of unnecessary "
				     "contention whose change would shorten the run");
	if (n_idle)
		pp_table_note(table,
			      "changes left out that would shorten the run by less than 1 %% or "
			      "than their error: %u",
			      n_idle);
	if (pp_suggest_gain_is_slowed(runs))
		pp_table_note(table,
			      "predictions are of runs that recorded accesses, which takes "
			      "time: add a capture without them (--accesses=off) for others");
	if (table->rows->len)
		pp_table_note(table, "each change is predicted alone; whether the program is still "
				     "correct with it is for its developers to decide");
}

struct pp_table *pp_suggest_rows(const struct pp_suggest_runs *runs, const GPtrArray *suggestions)
{
	struct pp_table *table =
	    pp_table_new("suggestions", "Suggestions", columns, G_N_ELEMENTS(columns));
	g_autoptr(GPtrArray) order = g_ptr_array_new();
	GString *text = g_string_new(NULL);
	unsigned n_idle = 0;

	for (guint i = 0; i < suggestions->len; i++)
		if (is_worth_it(suggestions->pdata[i]))
			g_ptr_array_add(order, suggestions->pdata[i]);
		else
			n_idle++;
	if (order->len)
		qsort(order->pdata, order->len, sizeof(*order->pdata), compare);
	for (guint i = 0; i < order->len; i++) {
		add_row(table, runs, order->pdata[i]);
		append_suggestion(text, i + 1, runs, order->pdata[i]);
	}
	table->text = g_string_free(text, order->len == 0);
	add_notes(table, runs, n_idle);
	return table;
}
