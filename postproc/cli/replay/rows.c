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
    [CPUS] = {"cpus", "CPUs", PP_TYPE_COUNT, PP_COLUMN_KEY, "of the replay"},
    [RUN] = {"run_ns", "run time", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "mean of all replays"},
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

/* What is replayed, and the replay of the recorded run; that has no runs (ns.n is 0) if the machine
 * has too few CPUs for it. */
struct replays {
	const struct pp_cli_replay_arguments *arguments;
	const struct pp_replay_model *model;
	const bool *drops;
	struct pp_cli_replay_outcome same;
	uint32_t
	    n_stuck; /* threads that wait for ever in one of the replays; its figures are missing */
	char *stuck; /* for what they wait, if known */
};

static void note_stuck(struct replays *self, struct pp_cli_replay_outcome *outcome)
{
	self->n_stuck = MAX(self->n_stuck, outcome->n_stuck);
	if (!self->stuck)
		self->stuck = g_steal_pointer(&outcome->stuck);
}

/* Replays the recorded run, if the engine has as many CPUs. */
static int run_same(struct replays *self, struct pp_error *err)
{
	const struct pp_replay_model *model = self->model;
	int code;

	if (self->arguments->engine == PP_CLI_REPLAY_SKELETON && self->arguments->cpus &&
	    model->n_cpus > pp_skeleton_usable_cpus())
		return 0;
	code = pp_cli_replay_run(self->arguments, model, model->n_cpus, model->others, NULL,
				 &self->same, err);
	note_stuck(self, &self->same);
	return code;
}

/* On that number of CPUs, without simulated other programs. */
static int run_on(struct replays *self, uint32_t n_cpus, struct pp_cli_replay_outcome *ret,
		  struct pp_error *err)
{
	bool is_same = n_cpus == self->model->n_cpus &&
		       (self->arguments->engine == PP_CLI_REPLAY_SKELETON || !self->model->others);
	int code = 0;

	if (is_same)
		*ret = self->same;
	else
		code = pp_cli_replay_run(self->arguments, self->model, n_cpus, 0, NULL, ret, err);
	note_stuck(self, ret);
	return code;
}

/* Adds a row for a number of CPUs. first_ns: run time of the first row; 0: this is the first one.
 */
static int add_row(struct replays *self, struct pp_table *table, uint32_t n_cpus, double *first_ns,
		   struct pp_error *err)
{
	struct pp_cli_replay_outcome outcome, changed = {0};
	struct pp_cell *row;
	int code = run_on(self, n_cpus, &outcome, err);

	if (code == 0 && self->drops)
		code = pp_cli_replay_run(self->arguments, self->model, n_cpus, 0, self->drops,
					 &changed, err);
	note_stuck(self, &changed);
	pp_cli_replay_outcome_done(&outcome);
	pp_cli_replay_outcome_done(&changed);
	if (code)
		return code;
	row = pp_table_add_row(table);
	pp_cell_set_count(&row[CPUS], n_cpus);
	if (outcome.n_stuck)
		return 0;
	if (*first_ns == 0 && table->rows->len == 1)
		*first_ns = outcome.ns.mean;
	set_row(row, &outcome, *first_ns);
	if (self->drops && !changed.n_stuck)
		set_change(row, &outcome, &changed);
	return 0;
}

static int add_rows(struct replays *self, struct pp_table *table, struct pp_error *err)
{
	const GArray *cpus = self->arguments->cpus;
	double first_ns = 0;
	int code = 0;

	if (!cpus)
		return add_row(self, table, self->model->n_cpus, &first_ns, err);
	for (guint i = 0; code == 0 && i < cpus->len; i++)
		code =
		    add_row(self, table, (uint32_t)g_array_index(cpus, int64_t, i), &first_ns, err);
	return code;
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
	bool has_change = arguments->dropped->len != 0,
	     is_skeleton = arguments->engine == PP_CLI_REPLAY_SKELETON;
	struct pp_error err = PP_ERROR_INIT;
	g_autofree bool *drops = find_dropped(arguments, source->model, &err);
	struct replays replays = {arguments, source->model, has_change ? drops : NULL, {{0}},
				  0,	     NULL};
	struct pp_table *table;
	int status;

	if (!drops)
		return pp_cli_fail(&err);
	table =
	    pp_table_new("replays", is_skeleton ? "Run times of skeletons" : "Simulated run times",
			 columns, has_change ? G_N_ELEMENTS(columns) : WITHOUT);
	if (run_same(&replays, &err) || add_rows(&replays, table, &err)) {
		status = pp_cli_fail(&err);
	} else {
		pp_cli_replay_note_fidelity(table, source->model, &replays.same,
					    is_skeleton ? "replayed" : "simulated");
		pp_cli_replay_note_gaps(table, &source->gaps);
		pp_cli_replay_note_stuck(table, replays.n_stuck, replays.stuck);
		status = pp_cli_tables_print(&arguments->how, &table, 1);
	}
	pp_table_free(table);
	pp_cli_replay_outcome_done(&replays.same);
	g_free(replays.stuck);
	return status;
}
