/* SPDX-License-Identifier: MIT */
/* Each row is the mean of several replays. */
#include "cli/replay/rows.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "cli/replay/notes.h"
#include "cli/replay/runs.h"
#include "cli/commands.h"

enum { CPUS, RUN, SIGMA, SPEEDUP, USED, WITHOUT, CHANGE, CHANGE_SIGMA };

static const struct pp_column columns[] = {
    [CPUS] = {"cpus", "CPUs", PP_TYPE_COUNT, PP_COLUMN_KEY, "simulated CPUs"},
    [RUN] = {"run_ns", "run time", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "mean of all simulations"},
    [SIGMA] = {"sigma_pct", "sigma%", PP_TYPE_PERCENT, 0, "its standard deviation"},
    [SPEEDUP] = {"speedup", "speedup", PP_TYPE_RATIO, 0, "to the first row"},
    [USED] = {"used_cpus", "used", PP_TYPE_RATIO, 0, "CPUs used, on average"},
    [WITHOUT] = {"changed_ns", "changed", PP_TYPE_TIME_NS, 0, "run time with the change"},
    [CHANGE] = {"change_pct", "change%", PP_TYPE_PERCENT, PP_COLUMN_SIGNED, "of the run time"},
    [CHANGE_SIGMA] = {"change_error_pct", "+/-%", PP_TYPE_PERCENT, 0,
		      "half of the 95 % confidence interval of the change"},
};

static void set_change(struct pp_cell *row, const struct pp_cli_replay_outcome *before,
		       const struct pp_cli_replay_outcome *after)
{
	double error =
	    sqrt((before->ns.sigma * before->ns.sigma + after->ns.sigma * after->ns.sigma) /
		 (double)before->ns.n);

	pp_cell_set_time(&row[WITHOUT], (int64_t)after->ns.mean);
	pp_cell_set_number(&row[CHANGE],
			   100 * (after->ns.mean - before->ns.mean) / before->ns.mean);
	pp_cell_set_number(&row[CHANGE_SIGMA], 100 * 1.96 * error / before->ns.mean);
}

static void set_row(struct pp_cell *row, const struct pp_cli_replay_outcome *outcome,
		    double first_ns)
{
	pp_cell_set_time(&row[RUN], (int64_t)outcome->ns.mean);
	pp_cell_set_number(&row[SIGMA], 100 * outcome->ns.sigma / MAX(outcome->ns.mean, 1));
	if (first_ns > 0)
		pp_cell_set_number(&row[SPEEDUP], first_ns / MAX(outcome->ns.mean, 1));
	pp_cell_set_number(&row[USED], outcome->cpus.mean);
}

/*
 * Adds a row for each number of CPUs. `same`: the simulation of the recorded run. Returns the
 * number of threads that wait for ever in one of the simulations, whose figures are missing.
 */
static uint32_t add_rows(struct pp_table *table, const struct pp_cli_replay_arguments *arguments,
			 const struct pp_replay_model *model,
			 const struct pp_cli_replay_outcome *same, const bool *drops)
{
	uint32_t n_stuck = same->n_stuck;
	double first_ns = 0;

	for (guint i = 0; i < (arguments->cpus ? arguments->cpus->len : 1); i++) {
		uint32_t n_cpus = arguments->cpus
				      ? (uint32_t)g_array_index(arguments->cpus, int64_t, i)
				      : model->n_cpus;
		struct pp_cli_replay_outcome outcome =
		    n_cpus == model->n_cpus && !model->others
			? *same
			: pp_cli_replay_run(arguments, model, n_cpus, 0, NULL);
		struct pp_cli_replay_outcome changed = {0};
		struct pp_cell *row = pp_table_add_row(table);

		if (i == 0 && !outcome.n_stuck)
			first_ns = outcome.ns.mean;
		pp_cell_set_count(&row[CPUS], n_cpus);
		if (!outcome.n_stuck)
			set_row(row, &outcome, first_ns);
		if (drops)
			changed = pp_cli_replay_run(arguments, model, n_cpus, 0, drops);
		if (drops && !outcome.n_stuck && !changed.n_stuck)
			set_change(row, &outcome, &changed);
		n_stuck = MAX(n_stuck, MAX(outcome.n_stuck, changed.n_stuck));
	}
	return n_stuck;
}

static bool *find_dropped(const struct pp_cli_replay_arguments *arguments,
			  const struct pp_replay_model *model, struct pp_error *err)
{
	bool *drops = g_new0(bool, model->objects->len + 1);

	for (guint i = 0; i < arguments->dropped->len; i++) {
		const char *name = arguments->dropped->pdata[i];
		bool is_found = false;

		for (guint k = 0; k < model->objects->len; k++) {
			const struct pp_replay_object *object = model->objects->pdata[k];

			if (object->kind != PP_REPLAY_OBJECT_LOCK ||
			    strcmp(object->name, name) != 0)
				continue;
			drops[k] = is_found = true;
		}
		if (!is_found) {
			pp_error_add(err, -ENOENT,
				     "no lock is named '%s': see gprof-mt report locks", name);
			g_free(drops);
			return NULL;
		}
	}
	return drops;
}

int pp_cli_replay_print_rows(const struct pp_cli_replay_arguments *arguments,
			     const struct pp_cli_replay_source *source)
{
	const struct pp_replay_model *model = source->model;
	bool has_change = arguments->dropped->len != 0;
	struct pp_error err = PP_ERROR_INIT;
	g_autofree bool *drops = find_dropped(arguments, model, &err);
	struct pp_table *table;
	struct pp_cli_replay_outcome same;
	uint32_t n_stuck;
	int status;

	if (!drops)
		return pp_cli_fail(&err);
	table = pp_table_new("replays", "Simulated run times", columns,
			     has_change ? G_N_ELEMENTS(columns) : WITHOUT);
	same = pp_cli_replay_run(arguments, model, model->n_cpus, model->others, NULL);
	n_stuck = add_rows(table, arguments, model, &same, has_change ? drops : NULL);
	if (!same.n_stuck)
		pp_cli_replay_note_fidelity(table, model, &same);
	pp_cli_replay_note_gaps(table, &source->gaps, n_stuck);
	status = pp_cli_tables_print(&arguments->how, &table, 1);
	pp_table_free(table);
	return status;
}
