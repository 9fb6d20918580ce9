/* SPDX-License-Identifier: MIT */
/*
 * The gain of two changes is not the sum of theirs: threads that no longer wait for one lock may
 * then wait for the other one, or a lock may bring nothing until another one is gone.
 */
#include "cli/replay/combine.h"

#include <stdlib.h>
#include <string.h>

#include "cli/replay/try.h"

#define MOST 5u /* changes: 10 pairs, and 3 rows with more */

enum { CHANGES, ALONE, CHANGED, EFFECT, ERROR };

static const struct pp_column columns[] = {
    [CHANGES] = {"changes", "changes", PP_TYPE_TEXT, PP_COLUMN_KEY,
		 "all of them, each as for --what-if"},
    [ALONE] = {"best_alone_pct", "best alone%", PP_TYPE_PERCENT, PP_COLUMN_SIGNED,
	       "change of the run time by the best of them alone"},
    [CHANGED] = {"changed_ns", "changed", PP_TYPE_TIME_NS, 0, "run time with all of them"},
    [EFFECT] = {"change_pct", "change%", PP_TYPE_PERCENT, PP_COLUMN_SIGNED | PP_COLUMN_MAIN,
		"of the run time"},
    [ERROR] = {"change_error_pct", "+/-%", PP_TYPE_PERCENT, PP_COLUMN_STAYS,
	       "half of the 95 % confidence interval of the change"},
};

struct combine {
	const struct pp_cli_replay_arguments *arguments;
	const struct pp_replay_model *model;
	const struct pp_cli_replay_outcome *before;
	struct pp_table *table;
	/* The best changes, in the order of their gain. */
	const char *texts[MOST], *locks[MOST];
	double alone_pct[MOST];
	unsigned n;
};

static bool has_lock(const struct combine *self, const char *lock)
{
	for (unsigned i = 0; i < self->n; i++)
		if (strcmp(self->locks[i], lock) == 0)
			return true;
	return false;
}

static void choose(struct combine *self, const struct pp_table *rank)
{
	for (guint i = 0; i < rank->rows->len && self->n < MOST; i++) {
		const char *lock = pp_table_cell(rank, i, "lock")->text;

		if (has_lock(self, lock))
			continue;
		self->texts[self->n] = pp_table_cell(rank, i, "change")->text;
		self->locks[self->n] = lock;
		self->alone_pct[self->n++] = pp_table_cell(rank, i, "change_pct")->number;
	}
}

static void add_row(struct combine *self, const char *const *texts, unsigned n, double alone_pct,
		    const struct pp_cli_replay_outcome *after,
		    const struct pp_cli_replay_effect *effect)
{
	struct pp_cell *row = pp_table_add_row(self->table);
	GString *text = g_string_new(texts[0]);

	for (unsigned i = 1; i < n; i++)
		g_string_append_printf(text, "; %s", texts[i]);
	pp_cell_set_text(&row[CHANGES], text->str);
	pp_cell_set_number(&row[ALONE], alone_pct);
	pp_cell_set_time(&row[CHANGED], (int64_t)after->ns.mean);
	pp_cell_set_number(&row[EFFECT], effect->pct);
	pp_cell_set_number(&row[ERROR], effect->error_pct);
	g_string_free(text, TRUE);
}

/*
 * Adds a row if the changes together bring more than the best of them alone. Those with which
 * threads wait for ever are left out, as single changes are.
 */
static int try_all(struct combine *self, const char *const *texts, unsigned n, double alone_pct,
		   struct pp_error *err)
{
	struct pp_cli_replay_outcome after;
	struct pp_cli_replay_effect effect;
	bool is_made;
	int code = pp_cli_replay_try(self->arguments, self->model, texts, n, &after, &is_made, err);

	if (code == 0 && is_made && !after.n_stuck) {
		effect = pp_cli_replay_effect(self->before, &after);
		if (effect.pct + effect.error_pct < alone_pct)
			add_row(self, texts, n, alone_pct, &after, &effect);
	}
	pp_cli_replay_outcome_done(&after);
	return code;
}

static int try_each(struct combine *self, struct pp_error *err)
{
	int code = 0;

	for (unsigned i = 0; i < self->n && code == 0; i++)
		for (unsigned k = i + 1; k < self->n && code == 0; k++) {
			const char *const pair[] = {self->texts[i], self->texts[k]};

			code = try_all(self, pair, 2, self->alone_pct[i], err);
		}
	for (unsigned n = 3; n <= self->n && code == 0; n++)
		code = try_all(self, self->texts, n, self->alone_pct[0], err);
	return code;
}

static int compare_rows(const void *a, const void *b)
{
	double x = (*(struct pp_cell *const *)a)[EFFECT].number;
	double y = (*(struct pp_cell *const *)b)[EFFECT].number;

	return (x > y) - (x < y);
}

struct pp_table *pp_cli_replay_combine(const struct pp_cli_replay_arguments *arguments,
				       const struct pp_replay_model *model,
				       const struct pp_cli_replay_outcome *before,
				       const struct pp_table *rank, struct pp_error *err)
{
	struct combine self = {.arguments = arguments, .model = model, .before = before};

	self.table =
	    pp_table_new("combined", "Several changes at once", columns, G_N_ELEMENTS(columns));
	choose(&self, rank);
	if (try_each(&self, err))
		g_clear_pointer(&self.table, pp_table_free);
	else if (self.table->rows->len)
		qsort(self.table->rows->pdata, self.table->rows->len, sizeof(void *), compare_rows);
	return self.table;
}
