/* SPDX-License-Identifier: MIT */
/* A row per suggestion, with its sites in a nested table; as text, a paragraph per suggestion. */
#include "cli/suggest/rows.h"

#include "cli/suggest/excerpt.h"
#include "cli/suggest/items.h"
#include "cli/suggest/notes.h"
#include "core/text/printable.h"
#include "suggest/words.h"

enum {
	SITE,
	ROLE,
	SECTIONS,
	SITE_UNKNOWN,
	RUNS,
	EXIT,
	CONFLICTING,
	MOVABLE,
	NOT_SEARCHED,
	SOURCE,
	N_SITE_COLUMNS
};

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
    [MOVABLE] = {"movable", "movable", PP_TYPE_TEXT, 0,
		 "lines that need not be in the section, whether or not they take long"},
    [NOT_SEARCHED] = {"not_searched", "not searched", PP_TYPE_TEXT, 0,
		      "why such lines are not known"},
    [SOURCE] = {"source", "source", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY,
		"its lines; '>': lock and unlock, '*': conflicting accesses, '^' and 'v': may go "
		"before the lock and behind the unlock"},
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
	 "null-shared, read-read, null-shared groups, read-read sites, low-degree conflict, "
	 "long section"},
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
		set_owned(&row[MOVABLE], pp_suggest_moved_lines(site));
		pp_cell_set_text(&row[NOT_SEARCHED], site->extent.why);
		set_owned(&row[SOURCE],
			  pp_suggest_excerpt(site, runs->sources, pp_suggest_is_long(suggestion, i),
					     &why));
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
	if (suggestion->gain.is_known) {
		pp_cell_set_number(&row[CHANGE], suggestion->gain.change_pct);
		pp_cell_set_number(&row[ERROR], suggestion->gain.error_pct);
		pp_cell_set_number(&row[FIDELITY], suggestion->gain.fidelity_pct);
	}
	pp_cell_set_text(&row[WHY], suggestion->gain.why);
	set_pairs(row, lock);
	pp_cell_set_count(&row[THREADS], lock->n_threads);
	pp_cell_set_count(&row[N_RUNS], lock->n_runs);
	pp_cell_set_count(&row[ALL_RUNS], runs->facts.n_runs);
	set_owned(&row[DATA], pp_suggest_data(lock));
	set_owned(&row[UNEXERCISED], pp_suggest_not_exercised(suggestion, &runs->facts));
	pp_cell_set_table(&row[SITES], sites_of(runs, suggestion));
}

/* --- text ------------------------------------------------------------------------------------- */

/* Each line of an item is printed by itself. */
static void append_item(GString *to, const struct pp_suggest_item *item)
{
	g_auto(GStrv) lines = g_strsplit(item->text, "\n", -1);

	for (unsigned i = 0; lines[i]; i++) {
		g_autofree char *printable = pp_printable(g_strdup(lines[i]));

		if (*printable)
			g_string_append_printf(to, "    %-14s %s\n", i ? "" : item->name,
					       printable);
	}
}

static void append_suggestion(GString *to, unsigned number, const struct pp_suggest_runs *runs,
			      const struct pp_suggestion *suggestion)
{
	g_autoptr(GPtrArray) items = pp_suggest_items(runs, suggestion);
	g_autofree char *headline = pp_printable(pp_suggest_headline(suggestion));

	g_string_append_printf(to, "%s%3u %s\n", number > 1 ? "\n" : "", number, headline);
	for (guint i = 0; i < items->len; i++)
		append_item(to, items->pdata[i]);
}

/* --- the table -------------------------------------------------------------------------------- */

struct pp_table *pp_suggest_rows(const struct pp_suggest_runs *runs, const GPtrArray *ranked,
				 unsigned n_idle)
{
	struct pp_table *table =
	    pp_table_new("suggestions", "Suggestions", columns, G_N_ELEMENTS(columns));
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < ranked->len; i++) {
		add_row(table, runs, ranked->pdata[i]);
		append_suggestion(text, i + 1, runs, ranked->pdata[i]);
	}
	table->text = g_string_free(text, ranked->len == 0);
	pp_suggest_add_notes(table, runs, n_idle);
	return table;
}
