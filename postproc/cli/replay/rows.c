/* SPDX-License-Identifier: MIT */
/* Each row is the mean of several replays. */
#include "cli/replay/rows.h"

#include "cli/replay/notes.h"
#include "cli/replay/same.h"

enum { CPUS, RUN, SIGMA, SPEEDUP, USED, CHANGED, CHANGE, CHANGE_ERROR };

static const struct pp_column columns[] = {
    [CPUS] = {"cpus", "CPUs", PP_TYPE_COUNT, PP_COLUMN_KEY, "of the replay"},
    [RUN] = {"run_ns", "run time", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "mean of all replays"},
    [SIGMA] = {"sigma_pct", "sigma%", PP_TYPE_PERCENT, 0, "its standard deviation"},
    [SPEEDUP] = {"speedup", "speedup", PP_TYPE_RATIO, 0, "to the first row"},
    [USED] = {"used_cpus", "used", PP_TYPE_RATIO, 0, "CPUs used, on average"},
    [CHANGED] = {"changed_ns", "changed", PP_TYPE_TIME_NS, 0, "run time with the change"},
    [CHANGE] = {"change_pct", "change%", PP_TYPE_PERCENT, PP_COLUMN_SIGNED, "of the run time"},
    [CHANGE_ERROR] = {"change_error_pct", "+/-%", PP_TYPE_PERCENT, 0,
		      "half of the 95 % confidence interval of the change"},
};

static void set_change(struct pp_cell *row, const struct pp_cli_replay_outcome *before,
		       const struct pp_cli_replay_outcome *after)
{
	struct pp_cli_replay_effect effect = pp_cli_replay_effect(before, after);

	pp_cell_set_time(&row[CHANGED], (int64_t)after->ns.mean);
	pp_cell_set_number(&row[CHANGE], effect.pct);
	pp_cell_set_number(&row[CHANGE_ERROR], effect.error_pct);
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

/* The models that are replayed. */
struct replays {
	const struct pp_cli_replay_arguments *arguments;
	const struct pp_cli_replay_source *source;
	const struct pp_replay_model *model, *changed; /* changed: NULL: no change */
	/* Threads that wait for ever in one of the replays, whose figures are missing. */
	uint32_t n_stuck;
	char *stuck; /* for what they wait, if known */
};

static void note_stuck(struct replays *self, const struct pp_cli_replay_outcome *outcome)
{
	self->n_stuck = MAX(self->n_stuck, outcome->n_stuck);
	if (!self->stuck)
		self->stuck = g_strdup(outcome->stuck);
}

/* On that number of CPUs, without simulated other programs. */
static int run_on(struct replays *self, uint32_t n_cpus, struct pp_cli_replay_outcome *ret,
		  struct pp_error *err)
{
	bool is_same =
	    n_cpus == self->model->n_cpus && pp_cli_replay_is_same(self->arguments, self->source);
	int code = 0;

	if (is_same) {
		*ret = self->source->same;
		ret->stuck = g_strdup(ret->stuck);
	} else {
		code = pp_cli_replay_run(self->arguments, self->model, n_cpus, 0, ret, err);
	}
	note_stuck(self, ret);
	return code;
}

/* The same with the change, which may be one of the number of CPUs. */
static int run_changed(struct replays *self, uint32_t n_cpus, struct pp_cli_replay_outcome *ret,
		       struct pp_error *err)
{
	bool is_other = self->changed->n_cpus != self->model->n_cpus;
	int code = pp_cli_replay_run(self->arguments, self->changed,
				     is_other ? self->changed->n_cpus : n_cpus, 0, ret, err);

	note_stuck(self, ret);
	return code;
}

/* Adds a row for a number of CPUs. first_ns: run time of the first row; 0: this is it. */
static int add_row(struct replays *self, struct pp_table *table, uint32_t n_cpus, double *first_ns,
		   struct pp_error *err)
{
	struct pp_cli_replay_outcome before, after = {0};
	struct pp_cell *row;
	int code = run_on(self, n_cpus, &before, err);

	if (code == 0 && self->changed)
		code = run_changed(self, n_cpus, &after, err);
	pp_cli_replay_outcome_done(&before);
	pp_cli_replay_outcome_done(&after);
	if (code)
		return code;
	row = pp_table_add_row(table);
	pp_cell_set_count(&row[CPUS], n_cpus);
	if (before.n_stuck)
		return 0;
	if (*first_ns == 0 && table->rows->len == 1)
		*first_ns = before.ns.mean;
	set_row(row, &before, *first_ns);
	if (self->changed && !after.n_stuck)
		set_change(row, &before, &after);
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

struct pp_table *pp_cli_replay_rows(const struct pp_cli_replay_arguments *arguments,
				    const struct pp_cli_replay_source *source,
				    const struct pp_replay_model *changed, struct pp_error *err)
{
	bool is_skeleton = arguments->engine == PP_CLI_REPLAY_SKELETON;
	struct replays replays = {
	    .arguments = arguments, .source = source, .model = source->model, .changed = changed};
	struct pp_table *table =
	    pp_table_new("replays", is_skeleton ? "Run times of skeletons" : "Simulated run times",
			 columns, changed ? G_N_ELEMENTS(columns) : CHANGED);

	note_stuck(&replays, &source->same);
	if (add_rows(&replays, table, err)) {
		g_clear_pointer(&table, pp_table_free);
	} else {
		pp_cli_replay_note_source(table, source, is_skeleton ? "replayed" : "simulated");
		pp_cli_replay_note_gaps(table, &source->gaps);
		pp_cli_replay_note_stuck(table, replays.n_stuck, replays.stuck);
	}
	g_free(replays.stuck);
	return table;
}

bool pp_cli_replay_rows_effect(const struct pp_table *rows, uint32_t n_cpus,
			       struct pp_cli_replay_effect *ret, bool *ret_stuck)
{
	for (guint i = 0; i < rows->rows->len; i++) {
		const struct pp_cell *row = rows->rows->pdata[i];

		if (row[CPUS].count != n_cpus)
			continue;
		*ret_stuck = row[CHANGE].missing;
		if (!*ret_stuck)
			*ret = (struct pp_cli_replay_effect){row[CHANGE].number,
							     row[CHANGE_ERROR].number};
		return true;
	}
	return false;
}
