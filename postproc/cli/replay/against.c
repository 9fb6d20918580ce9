/* SPDX-License-Identifier: MIT */
/*
 * Runs of both programs alternate, so that other load concerns both. They are not recorded, get no
 * input, and their output is discarded.
 */
#include "cli/replay/against.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "campaign/measure.h"
#include "cli/replay/rows.h"
#include "cli/replay/runs.h"

enum { PREDICTED, PREDICTED_ERROR, BEFORE, AFTER, REAL, REAL_ERROR, ERROR };

static const struct pp_column columns[] = {
    [PREDICTED] = {"predicted_pct", "predicted%", PP_TYPE_PERCENT, PP_COLUMN_SIGNED,
		   "change of the run time by the replay"},
    [PREDICTED_ERROR] = {"predicted_error_pct", "+/-%", PP_TYPE_PERCENT, 0,
			 "half of its 95 % confidence interval"},
    [BEFORE] = {"before_ns", "before", PP_TYPE_TIME_NS, 0, "real run time without the change"},
    [AFTER] = {"after_ns", "after", PP_TYPE_TIME_NS, 0, "real run time with the change"},
    [REAL] = {"real_pct", "real%", PP_TYPE_PERCENT, PP_COLUMN_SIGNED | PP_COLUMN_MAIN,
	      "real change"},
    [REAL_ERROR] = {"real_error_pct", "+/-%", PP_TYPE_PERCENT, 0,
		    "half of its 95 % confidence interval"},
    [ERROR] = {"error_pct", "error%", PP_TYPE_PERCENT, PP_COLUMN_SIGNED,
	       "predicted - real, in points"},
};

static int read_recorded(const struct pp_cli_replay_arguments *arguments,
			 const struct pp_cli_replay_source *source, struct pp_cli_replay_real *ret,
			 struct pp_error *err)
{
	struct pp_cli_replay_arguments how = *arguments;
	struct pp_cli_replay_source other;
	double before = (double)source->model->recorded_ns, after = 0;
	int rc;

	how.path = arguments->against;
	how.allow_gaps = true; /* only the run time counts */
	how.cost_ns = 0;
	how.has_time = false;
	rc = pp_cli_replay_source_read(&other, &how, err);
	if (rc == 0)
		after = (double)other.model->recorded_ns;
	pp_cli_replay_source_done(&other);
	if (rc)
		return rc;
	if (before <= 0 || after <= 0)
		return pp_error_add(err, -ENODATA, "%s: no run time is recorded",
				    before > 0 ? arguments->against : arguments->path);
	ret->before.ns = pp_spread_of(&before, 1);
	ret->after.ns = pp_spread_of(&after, 1);
	return 0;
}

/* --- runs ------------------------------------------------------------------------------------- */

static int run(char *const *command, double *ret_ns, struct pp_error *err)
{
	const struct pp_measure how = {.argv = command};
	struct pp_measured measured;
	int rc = pp_measure_run(&how, &measured, err);

	if (rc)
		return rc;
	if (measured.interrupted)
		return pp_error_add(err, -EINTR, "interrupted");
	if (!WIFEXITED(measured.status) || WEXITSTATUS(measured.status) != 0)
		return pp_error_add(
		    err, -ECHILD, "%s: the run failed (%s %d), so its time says nothing",
		    command[0], WIFEXITED(measured.status) ? "exit status" : "signal",
		    WIFEXITED(measured.status) ? WEXITSTATUS(measured.status)
					       : WTERMSIG(measured.status));
	*ret_ns = (double)measured.wall_ns;
	return 0;
}

/* One of each is not counted: it warms up caches. */
static int run_both(char *const *before, char *const *after, uint32_t n,
		    struct pp_cli_replay_real *ret, struct pp_error *err)
{
	g_autofree double *before_ns = g_new0(double, n + 1), *after_ns = g_new0(double, n + 1);
	int rc = 0;

	pp_measure_begin();
	for (uint32_t i = 0; i <= n && rc == 0; i++) {
		rc = run(before, &before_ns[i], err);
		if (rc == 0)
			rc = run(after, &after_ns[i], err);
	}
	pp_measure_end();
	ret->n_measured = n;
	ret->before.ns = pp_spread_of(before_ns + 1, n);
	ret->after.ns = pp_spread_of(after_ns + 1, n);
	return rc;
}

int pp_cli_replay_run_both(const struct pp_cli_replay_arguments *arguments,
			   const struct pp_cli_replay_source *source,
			   struct pp_cli_replay_real *ret, struct pp_error *err)
{
	g_autofree char *cwd = g_get_current_dir();

	if (!source->command)
		return pp_error_add(err, -ENODATA,
				    "%s does not name the recorded command: give the capture",
				    arguments->path);
	if (source->cwd && strcmp(source->cwd, cwd) != 0)
		return pp_error_add(err, -EINVAL,
				    "%s was recorded in %s: change to it, so that the command "
				    "finds its files",
				    arguments->path, source->cwd);
	return run_both((char *const *)source->command->pdata, arguments->command,
			arguments->n_runs, ret, err);
}

/* --- the table -------------------------------------------------------------------------------- */

static void set_times(struct pp_cell *row, const struct pp_cli_replay_real *real)
{
	struct pp_cli_replay_effect effect = pp_cli_replay_effect(&real->before, &real->after);

	if (!row[PREDICTED].missing)
		pp_cell_set_number(&row[ERROR], row[PREDICTED].number - effect.pct);
	pp_cell_set_time(&row[BEFORE], (int64_t)real->before.ns.mean);
	pp_cell_set_time(&row[AFTER], (int64_t)real->after.ns.mean);
	pp_cell_set_number(&row[REAL], effect.pct);
	if (MIN(real->before.ns.n, real->after.ns.n) > 1)
		pp_cell_set_number(&row[REAL_ERROR], effect.error_pct);
}

static void note_times(struct pp_table *table, const struct pp_cli_replay_real *real)
{
	if (real->n_measured)
		pp_table_note(table,
			      "the real times are means of %u runs of each program in turn, "
			      "not recorded",
			      real->n_measured);
	else if (MAX(real->before.ns.n, real->after.ns.n) > 1)
		pp_table_note(table,
			      "the real times are means of recorded runs (%zu before, %zu after), "
			      "which recording and other load make longer",
			      real->before.ns.n, real->after.ns.n);
	else
		pp_table_note(table,
			      "the real times are those of one recorded run of each program, "
			      "which recording and other load make longer");
}

struct pp_table *pp_cli_replay_truth(const struct pp_cli_replay_effect *predicted,
				     const struct pp_cli_replay_real *real)
{
	struct pp_table *table =
	    pp_table_new("truth", "Prediction and truth", columns, G_N_ELEMENTS(columns));
	struct pp_cell *row = pp_table_add_row(table);

	if (predicted) {
		pp_cell_set_number(&row[PREDICTED], predicted->pct);
		pp_cell_set_number(&row[PREDICTED_ERROR], predicted->error_pct);
	}
	if (real) {
		set_times(row, real);
		note_times(table, real);
	}
	return table;
}

/* Predicts the change; *ret_stuck: threads wait for ever. Returns 0 or -errno. */
static int predict(const struct pp_cli_replay_arguments *arguments,
		   const struct pp_replay_model *model, const struct pp_replay_model *changed,
		   struct pp_cli_replay_effect *ret, bool *ret_stuck, struct pp_error *err)
{
	struct pp_cli_replay_outcome before, after = {0};
	int code = pp_cli_replay_run(arguments, model, model->n_cpus, 0, &before, err);

	if (code == 0)
		code = pp_cli_replay_run(arguments, changed, changed->n_cpus, 0, &after, err);
	pp_cli_replay_outcome_done(&before);
	pp_cli_replay_outcome_done(&after);
	*ret = pp_cli_replay_effect(&before, &after);
	*ret_stuck = before.n_stuck || after.n_stuck;
	return code;
}

struct pp_table *pp_cli_replay_against(const struct pp_cli_replay_arguments *arguments,
				       const struct pp_cli_replay_source *source,
				       const struct pp_replay_model *changed,
				       const struct pp_table *rows, struct pp_error *err)
{
	struct pp_cli_replay_effect predicted = {0};
	struct pp_cli_replay_real real = {0};
	struct pp_table *table;
	bool is_stuck;
	int rc = 0;

	if (!pp_cli_replay_rows_effect(rows, source->model->n_cpus, &predicted, &is_stuck))
		rc = predict(arguments, source->model, changed, &predicted, &is_stuck, err);
	if (rc == 0)
		rc = arguments->against ? read_recorded(arguments, source, &real, err)
					: pp_cli_replay_run_both(arguments, source, &real, err);
	if (rc)
		return NULL;
	table = pp_cli_replay_truth(is_stuck ? NULL : &predicted, &real);
	if (is_stuck)
		pp_table_note(table, "no prediction: threads wait for ever in a replay");
	return table;
}
