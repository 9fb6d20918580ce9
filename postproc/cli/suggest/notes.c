/* SPDX-License-Identifier: MIT */
/* Each note tells what the table does not have, and why. */
#include "cli/suggest/notes.h"

#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "cli/suggest/gain.h"
#include "core/text/json.h"
#include "pass/accesses/accesses.h"
#include "suggest/words.h"

/* Locks without a suggestion that notes name. */
#define MAX_LEFT_OUT 10

/* Samples at this rate are frequent enough: the rate that notes advise. */
#define FREQUENT_HZ 1000

/* Names the locks for which nothing is suggested, though others would expect it. */
static void note_left_out(struct pp_table *table, const GPtrArray *locks)
{
	unsigned n = 0;

	for (guint i = 0; i < locks->len; i++) {
		g_autofree char *why = pp_suggest_why_left_out(locks->pdata[i]);

		if (why && ++n <= MAX_LEFT_OUT)
			pp_table_note(table, "%s", why);
	}
	if (n > MAX_LEFT_OUT)
		pp_table_note(table, "and %u more locks are left out", n - MAX_LEFT_OUT);
}

/* --- extents ---------------------------------------------------------------------------------- */

/* Calls take() for each site whose lock threads have had one after the other. */
static void each_site(const GPtrArray *locks,
		      void (*take)(void *data, const struct pp_suggest_site *site), void *data)
{
	for (guint l = 0; l < locks->len; l++) {
		const struct pp_suggest_lock *lock = locks->pdata[l];
		uint64_t known;

		pp_suggest_unnecessary(lock, &known);
		for (guint i = 0; known && i < lock->sites->len; i++)
			take(data, lock->sites->pdata[i]);
	}
}

/* A table, and the advice for more samples. */
struct advising {
	struct pp_table *table;
	const char *advice;
};

static void note_short_of_samples(void *data, const struct pp_suggest_site *site)
{
	const struct advising *self = data;
	g_autofree char *lines = pp_suggest_moved_lines(site);
	g_autofree char *source = pp_suggest_no_source(&site->extent);
	g_autofree char *calls = pp_suggest_unrecorded(&site->extent, true);

	if (lines && site->extent.n_samples < PP_SUGGEST_LEAST_SAMPLES)
		pp_table_note(
		    self->table,
		    "%s of %s need not be in the section, but %" G_GUINT64_FORMAT
		    " samples are too few to tell their time: record for longer%s%s%s%s%s",
		    lines, site->name, site->extent.n_samples, self->advice, source ? "; " : "",
		    source ?: "", calls ? "; " : "", calls ?: "");
}

static bool has_stacks(JsonObject *config)
{
	const char *stacks = pp_json_string(config, "sample.stacks");

	return !stacks || strcmp(stacks, "off") != 0;
}

/* Only captures with samples tell the time of lines; those of all of them may be frequent. */
static const char *advice_for_samples(const struct pp_suggest_runs *runs)
{
	bool is_any = false, are_frequent = true;

	for (guint i = 0; i < runs->all->len; i++) {
		const struct pp_suggest_run *run = runs->all->pdata[i];
		JsonObject *config = pp_json_object(run->view.capture->model->info, "config");
		const char *hz = pp_json_string(config, "sample.hz");

		if ((run->has_accesses && !pp_suggest_gain_is_slowed(runs)) || !has_stacks(config))
			continue;
		is_any = true;
		are_frequent &= hz && atoi(hz) >= FREQUENT_HZ;
	}
	if (!is_any)
		return ", with sample.stacks=on";
	return are_frequent ? "" : ", or with --set sample.hz=1000";
}

/* Counts the sites by the reason why their lines are not known. */
static void count_unknown(void *data, const struct pp_suggest_site *site)
{
	GHashTable *counts = data;
	void *n = site->extent.why ? g_hash_table_lookup(counts, site->extent.why) : NULL;

	if (site->extent.why)
		g_hash_table_insert(counts, (void *)site->extent.why,
				    GUINT_TO_POINTER(GPOINTER_TO_UINT(n) + 1));
}

static void note_extents(struct pp_table *table, const struct pp_suggest_runs *runs)
{
	const GPtrArray *locks = runs->facts.locks;
	struct advising advising = {table, advice_for_samples(runs)};
	g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GList) reasons = NULL;

	each_site(locks, note_short_of_samples, &advising);
	each_site(locks, count_unknown, counts);
	reasons = g_list_sort(g_hash_table_get_keys(counts), (GCompareFunc)strcmp);
	for (const GList *at = reasons; at; at = at->next)
		pp_table_note(table,
			      "call sites whose sections were not searched for lines that need no "
			      "lock: %u (%s)",
			      GPOINTER_TO_UINT(g_hash_table_lookup(counts, at->data)),
			      (const char *)at->data);
}

/* --- limits ----------------------------------------------------------------------------------- */

/* Sections that call such code seem to access nothing there. */
static void note_uninstrumented(struct pp_table *table, const struct pp_suggest_runs *runs)
{
	for (guint i = 0; i < runs->all->len; i++) {
		const struct pp_suggest_run *run = runs->all->pdata[i];

		if (!run->has_accesses)
			continue;
		pp_access_note_uninstrumented(table, &run->view.context);
		return;
	}
}

static void note_refused(struct pp_table *table, const struct pp_suggest_runs *runs)
{
	for (guint i = 0; i < runs->all->len; i++) {
		const struct pp_suggest_run *run = runs->all->pdata[i];
		const struct pp_reversals *reversals = run->view.capture->model->reversals;

		if (reversals && reversals->refused)
			pp_table_note(table, "%s", reversals->refused);
	}
}

/* The time of the file's last change, in seconds since 1970; 0: not known. */
static gint64 changed_s(const char *path)
{
	GStatBuf st;

	return g_stat(path, &st) == 0 ? (gint64)st.st_mtime : 0;
}

/* Lines of a file that has changed since the first recording are others now. */
static void note_changed_sources(struct pp_table *table, const struct pp_suggest_runs *runs)
{
	const struct pp_suggest_run *run = runs->all->pdata[0];
	const char *text = pp_json_string(run->view.capture->model->info, "start_time");
	g_autoptr(GDateTime) start = text ? g_date_time_new_from_iso8601(text, NULL) : NULL;
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	GHashTableIter iter;
	void *name, *path;

	g_hash_table_iter_init(&iter, runs->sources);
	while (start && g_hash_table_iter_next(&iter, &name, &path))
		if (changed_s(path) > g_date_time_to_unix(start) && g_hash_table_add(seen, path))
			pp_table_note(table,
				      "%s has changed since %s was recorded: excerpts may show "
				      "other lines",
				      (const char *)path, run->dir);
}

static bool has_moves(const struct pp_table *table)
{
	for (guint row = 0; row < table->rows->len; row++) {
		const struct pp_cell *pattern = pp_table_cell(table, row, "pattern");

		if (pattern && g_strcmp0(pattern->text, pp_suggest_patterns[PP_SUGGEST_LONG]) == 0)
			return true;
	}
	return false;
}

/* ---------------------------------------------------------------------------------------------- */

void pp_suggest_add_notes(struct pp_table *table, const struct pp_suggest_runs *runs,
			  unsigned n_idle)
{
	if (!table->rows->len)
		pp_table_note(table, "nothing is suggested: no lock shows a pattern of unnecessary "
				     "contention whose change would shorten the run");
	if (n_idle)
		pp_table_note(table,
			      "changes left out that would shorten the run by less than 1 %% or "
			      "than their error: %u",
			      n_idle);
	note_left_out(table, runs->facts.locks);
	note_extents(table, runs);
	if (pp_suggest_gain_is_slowed(runs))
		pp_table_note(table,
			      "predictions are of runs that recorded accesses, which takes "
			      "time: add a capture without them (--accesses=off) for others");
	note_uninstrumented(table, runs);
	note_refused(table, runs);
	note_changed_sources(table, runs);
	if (has_moves(table))
		pp_table_note(table,
			      "before lines are moved: look for those that use a variable that a "
			      "line marked * changes, and for calls that share data, as those of "
			      "libc and the kernel: memory that the compiler keeps in registers, "
			      "and that such calls use, is not recorded");
	if (table->rows->len)
		pp_table_note(table, "each change is predicted alone; whether the program is still "
				     "correct with it is for its developers to decide");
}
