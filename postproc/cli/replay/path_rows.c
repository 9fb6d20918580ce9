/* SPDX-License-Identifier: MIT */
/* Parts of the two paths are one row if their locks and call sites have the same names. */
#include "cli/replay/path_rows.h"

#include <string.h>

#include "replay/path.h"

/* The parts of a path that have rows of their own. */
#define MAX_PARTS 1000

enum { PART, LOCK, SITE, BEFORE, BEFORE_SHARE, AFTER, AFTER_SHARE };

static const struct pp_column columns[] = {
    [PART] = {"part", "part", PP_TYPE_TEXT, PP_COLUMN_KEY, "of the critical path"},
    [LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY, "held, the one taken last"},
    [SITE] = {"site", "taken by", PP_TYPE_TEXT, PP_COLUMN_KEY, "call site of the acquisition"},
    [BEFORE] = {"before_ns", "before", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
		"part of the run time, of one simulation"},
    [BEFORE_SHARE] = {"before_pct", "before%", PP_TYPE_PERCENT, PP_COLUMN_SHARE, "the same"},
    [AFTER] = {"after_ns", "after", PP_TYPE_TIME_NS, 0, "with the change"},
    [AFTER_SHARE] = {"after_pct", "after%", PP_TYPE_PERCENT, PP_COLUMN_SHARE, "the same"},
};

static const char *const part_names[PP_REPLAY_N_PARTS] = {
    [PP_REPLAY_PART_SECTION] = "section",
    [PP_REPLAY_PART_OUTSIDE] = "CPU without a lock",
    [PP_REPLAY_PART_READY] = "wake-ups, no CPU",
    [PP_REPLAY_PART_SLEEP] = "sleep, I/O",
    [PP_REPLAY_PART_START] = "before the first thread",
};

static bool has_text(const struct pp_cell *cell, const char *text)
{
	return cell->missing ? !text : text && strcmp(cell->text, text) == 0;
}

/* has_own: the part has a row of its own, and is not one of the other sections. */
static struct pp_cell *row_of(struct pp_table *table, const struct pp_replay_model *model,
			      const struct pp_replay_part *part, bool has_own)
{
	const char *lock = NULL, *site = NULL;
	struct pp_cell *row;

	if (has_own && part->kind == PP_REPLAY_PART_SECTION) {
		lock = ((const struct pp_replay_object *)model->objects->pdata[part->object])->name;
		site = part->site ? model->sites->pdata[part->site - 1] : NULL;
	}
	for (guint i = 0; i < table->rows->len; i++) {
		row = table->rows->pdata[i];
		if (has_text(&row[PART], part_names[part->kind]) && has_text(&row[LOCK], lock) &&
		    has_text(&row[SITE], site))
			return row;
	}
	row = pp_table_add_row(table);
	pp_cell_set_text(&row[PART], part_names[part->kind]);
	pp_cell_set_text(&row[LOCK], lock);
	pp_cell_set_text(&row[SITE], site);
	return row;
}

static void add_to(struct pp_cell *row, unsigned column, int64_t ns, int64_t all_ns)
{
	int64_t sum_ns = ns + (row[column].missing ? 0 : row[column].time_ns);

	pp_cell_set_time(&row[column], sum_ns);
	pp_cell_set_number(&row[column + 1], 100 * (double)sum_ns / (double)MAX(all_ns, 1));
}

/* Simulates the model once, and adds its path to that column and the next one. */
static void add_path(struct pp_table *table, const struct pp_cli_replay_arguments *arguments,
		     const struct pp_replay_model *model, unsigned column)
{
	struct pp_simulation_log log;
	struct pp_simulation how = {model->n_cpus, 0, arguments->fair, 0, &log};
	struct pp_simulated simulated;
	g_autoptr(GArray) parts = NULL;

	pp_simulate(model, &how, &simulated);
	parts = pp_replay_path(model, &log, &simulated);
	for (guint i = 0; i < parts->len; i++) {
		const struct pp_replay_part *part = &g_array_index(parts, struct pp_replay_part, i);

		add_to(row_of(table, model, part, i < MAX_PARTS), column, part->ns, simulated.ns);
	}
	if (simulated.n_stuck)
		pp_table_note(table, "no path %s the change: threads wait for ever",
			      column == BEFORE ? "without" : "with");
	pp_simulated_done(&simulated);
	pp_simulation_log_done(&log);
}

struct pp_table *pp_cli_replay_path_rows(const struct pp_cli_replay_arguments *arguments,
					 const struct pp_replay_model *before,
					 const struct pp_replay_model *after)
{
	struct pp_table *table =
	    pp_table_new("path", "Critical path of a simulation", columns, G_N_ELEMENTS(columns));

	add_path(table, arguments, before, BEFORE);
	add_path(table, arguments, after, AFTER);
	return table;
}
