/* SPDX-License-Identifier: MIT */
/*
 * Each lock, and each call site that enters a section, is tried once.  Only rows that are shown are
 * looked at, the first ones first, up to a limit.
 */
#include "cli/replay/gains.h"

#include <errno.h>
#include <string.h>

#include "cli/replay/notes.h"
#include "cli/replay/same.h"
#include "cli/replay/source.h"
#include "cli/replay/try.h"
#include "table/widen.h"

/* The most changes that are tried. */
#define MAX_TRIES 60

enum { DROPPED, HALVED, N_GAINS };

static const struct pp_column columns[N_GAINS] = {
    [DROPPED] = {"dropped_pct", "dropped", PP_TYPE_PERCENT, PP_COLUMN_SIGNED | PP_COLUMN_STAYS,
		 "predicted change of the run time if the lock were never taken"},
    [HALVED] = {"halved_pct", "halved", PP_TYPE_PERCENT, PP_COLUMN_SIGNED | PP_COLUMN_STAYS,
		"the same with half of the CPU time in the sections of its call site"},
};

/* In front of their share, tables get gains of the lock, and of the call site that took it. */
static const struct shown {
	const char *section, *table, *lock;
	const char *site; /* NULL: the table has none */
} all_shown[] = {
    {"blame", "blame", "name", "acquired"},
    {"bottlenecks", "bottlenecks", "lock", "entry"},
    {NULL, "blame_waiters", "name", NULL},
    {NULL, "bottleneck_locks", "name", NULL},
};

struct gains {
	struct pp_cli_replay_arguments arguments;
	struct pp_cli_replay_source source;
	struct pp_cli_replay_outcome before;
	GHashTable *tried; /* text of a change -> struct pp_cell *, of a percentage */
	unsigned n_tried, n_left_out;
	unsigned n_stuck; /* changes with which threads wait for ever */
	struct pp_error err;
	char *why; /* no gains are known; NULL: they are */
};

static const struct shown *find_shown(const struct pp_table *table)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(all_shown); i++)
		if (strcmp(all_shown[i].table, table->key) == 0)
			return &all_shown[i];
	return NULL;
}

bool pp_cli_replay_has_gains(const char *section)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(all_shown); i++)
		if (all_shown[i].section && strcmp(all_shown[i].section, section) == 0)
			return true;
	return false;
}

/* --- replays ---------------------------------------------------------------------------------- */

static void begin(struct gains *self, const char *dir, const struct pp_selection *selection)
{
	int rc;

	self->arguments = (struct pp_cli_replay_arguments){
	    .path = dir,
	    .changes = g_ptr_array_new_with_free_func((GDestroyNotify)pp_change_free),
	    .n_runs = PP_CLI_REPLAY_RUNS,
	    .cost_ns = -1,
	    .is_quiet = true,
	    .has_time = (selection->by & PP_SELECT_TIME) != 0,
	    .from_ns = selection->from_ns,
	    .to_ns = selection->to_ns,
	};
	self->tried = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	rc = pp_cli_replay_source_read(&self->source, &self->arguments, &self->err);
	if (rc == 0)
		rc = pp_cli_replay_same(&self->arguments, &self->source, &self->err);
	if (rc == 0)
		rc = pp_cli_replay_before(&self->arguments, &self->source, &self->before,
					  &self->err);
	if (rc)
		self->why = pp_error_text(&self->err);
	else if (self->before.n_stuck)
		self->why = g_strdup("threads wait for ever in the replay");
}

static void done(struct gains *self)
{
	pp_error_done(&self->err);
	g_free(self->why);
	g_hash_table_unref(self->tried);
	pp_cli_replay_source_done(&self->source);
	pp_cli_replay_arguments_done(&self->arguments);
}

static void try_change(struct gains *self, const char *text, struct pp_cell *ret)
{
	struct pp_cli_replay_outcome after;
	bool is_made;

	if (self->n_tried == MAX_TRIES) {
		self->n_left_out++;
		return;
	}
	self->n_tried++;
	if (pp_cli_replay_try(&self->arguments, self->source.model, &text, 1, &after, &is_made,
			      NULL) == 0 &&
	    is_made && !after.n_stuck)
		pp_cell_set_number(ret, pp_cli_replay_effect(&self->before, &after).pct);
	self->n_stuck += is_made && after.n_stuck;
	pp_cli_replay_outcome_done(&after);
}

/* Sets the cell to the gain of the change of that subject, between these words. */
static void set_gain(struct gains *self, const char *before, const struct pp_cell *subject,
		     const char *behind, struct pp_cell *cell)
{
	char *text = g_strconcat(before, subject->text, behind, NULL);
	struct pp_cell *known = g_hash_table_lookup(self->tried, text);

	if (known) {
		g_free(text);
	} else {
		known = g_new0(struct pp_cell, 1);
		known->missing = true;
		try_change(self, text, known);
		g_hash_table_insert(self->tried, text, known);
	}
	*cell = *known;
}

/* --- tables ----------------------------------------------------------------------------------- */

static void add_notes(const struct gains *self, struct pp_table *table)
{
	if (self->why) {
		pp_table_note(table, "dropped, halved: no gains are predicted: %s", self->why);
		return;
	}
	pp_cli_replay_note_source(table, &self->source, "simulated");
	pp_cli_replay_note_gaps(table, &self->source.gaps);
	pp_table_note(table,
		      "dropped, halved: predicted change of the run time if the lock were never "
		      "taken, or with half of the CPU time in the sections of that call site; "
		      "whether the program would still be correct is not known, and gains cannot "
		      "be added up");
	if (self->n_stuck)
		pp_table_note(table, "changes left out, with which threads wait for ever: %u",
			      self->n_stuck);
	if (self->n_left_out)
		pp_table_note(table, "changes left out, after %d others: %u", MAX_TRIES,
			      self->n_left_out);
}

static struct pp_table *widen(struct gains *self, const struct pp_table *table,
			      const struct shown *shown, bool for_text)
{
	int share = pp_table_column(table, "share_pct");
	unsigned at = share < 0 ? table->n_columns : (unsigned)share;
	struct pp_table *wide = pp_table_widen(table, at, columns, shown->site ? N_GAINS : HALVED);
	guint n = table->rows->len;

	if (for_text && table->text_rows)
		n = MIN(n, table->text_rows);
	for (guint i = 0; i < n && !self->why; i++) {
		const struct pp_cell *lock = pp_table_cell(table, i, shown->lock);
		const struct pp_cell *site =
		    shown->site ? pp_table_cell(table, i, shown->site) : NULL;
		struct pp_cell *row = wide->rows->pdata[i];

		if (lock)
			set_gain(self, "drop ", lock, "", &row[at + DROPPED]);
		if (lock && site && !row[at + DROPPED].missing)
			set_gain(self, "shrink ", site, " to 50 %", &row[at + HALVED]);
	}
	add_notes(self, wide);
	return wide;
}

void pp_cli_replay_add_gains(const char *dir, const struct pp_selection *selection, bool for_text,
			     GPtrArray *tables, GPtrArray *owned)
{
	struct gains self = {.err = PP_ERROR_INIT};

	begin(&self, dir, selection);
	for (guint i = 0; i < tables->len; i++) {
		const struct shown *shown = find_shown(tables->pdata[i]);

		if (!shown)
			continue;
		tables->pdata[i] = widen(&self, tables->pdata[i], shown, for_text);
		g_ptr_array_add(owned, tables->pdata[i]);
	}
	done(&self);
}
