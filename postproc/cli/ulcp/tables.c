/* SPDX-License-Identifier: MIT */
/*
 * Run times are those of the engine; gains by pair come from simulations in the recorded order,
 * which have time stamps.
 */
#include "cli/ulcp/tables.h"

#include <errno.h>

#include "cli/replay/notes.h"
#include "cli/replay/runs.h"
#include "cli/ulcp/locksets.h"
#include "cli/ulcp/regions.h"
#include "cli/ulcp/sections.h"
#include "core/text/duration.h"
#include "replay/simulate.h"

enum { ORDER, WITH, WITH_SIGMA, WITHOUT, WITHOUT_SIGMA, LOST, LOST_PCT, LOST_ERROR, WASTED };

static const struct pp_column columns[] = {
    [ORDER] = {"order", "order", PP_TYPE_TEXT, PP_COLUMN_KEY,
	       "of the sections that contend: as recorded, or free"},
    [WITH] = {"with_ns", "with", PP_TYPE_TIME_NS, 0, "run time with unnecessary contention (mean)"},
    [WITH_SIGMA] = {"with_sigma_pct", "sigma%", PP_TYPE_PERCENT, 0, "its standard deviation"},
    [WITHOUT] = {"without_ns", "without", PP_TYPE_TIME_NS, 0, "run time without it (mean)"},
    [WITHOUT_SIGMA] = {"without_sigma_pct", "sigma%", PP_TYPE_PERCENT, 0, "its standard deviation"},
    [LOST] = {"t_pd_ns", "T_pd", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
	      "run time lost to unnecessary contention"},
    [LOST_PCT] = {"t_pd_pct", "T_pd%", PP_TYPE_PERCENT, 0, "of the run time with it"},
    [LOST_ERROR] = {"t_pd_error_pct", "+/-%", PP_TYPE_PERCENT, 0,
		    "half of the 95 % confidence interval of T_pd%"},
    [WASTED] = {"t_rw_ns", "T_rw", PP_TYPE_TIME_NS, 0,
		"the gains of all pairs less T_pd: time that threads waste beside it"},
};

static const char *const orders[] = {
    [PP_CLI_ULCP_RECORDED] = "recorded", [PP_CLI_ULCP_FREE] = "free"};

/* The replays of one order. */
struct replays {
	const struct pp_cli_ulcp_arguments *arguments;
	const struct pp_cli_ulcp_models *models;
	enum pp_cli_ulcp_order order;
	/* `same`: of the recorded run, beside other programs. */
	struct pp_cli_replay_outcome same, with, without;
};

static int run(const struct replays *self, const struct pp_replay_model *model, uint32_t others,
	       struct pp_cli_replay_outcome *ret, struct pp_error *err)
{
	return pp_cli_replay_run(&self->arguments->replay, model, model->n_cpus, others, ret, err);
}

static int run_all(struct replays *self, struct pp_error *err)
{
	const struct pp_replay_model *with = self->models->with[self->order].model;
	int rc = run(self, with, with->others, &self->same, err);

	if (rc == 0)
		rc = run(self, with, 0, &self->with, err);
	if (rc == 0)
		rc = run(self, self->models->without[self->order].model, 0, &self->without, err);
	return rc;
}

/* --- gains ------------------------------------------------------------------------------------ */

/* Simulates the model; returns false if threads wait for ever. */
static bool simulate(const struct pp_replay_model *model, uint32_t seed,
		     struct pp_simulation_log *log)
{
	struct pp_simulation how = {model->n_cpus, 0, false, seed, log};
	struct pp_simulated simulated;
	bool is_good;

	pp_simulate(model, &how, &simulated);
	is_good = simulated.n_stuck == 0;
	pp_simulated_done(&simulated);
	return is_good;
}

/* Adds up the gains of all replays. Returns false if threads wait for ever in one of them. */
static bool add_gains(struct pp_cli_ulcp_models *models, uint32_t n_runs)
{
	const struct pp_ulcp_result *before = &models->with[PP_CLI_ULCP_RECORDED];
	const struct pp_ulcp_result *after = &models->without[PP_CLI_ULCP_RECORDED];
	bool is_good = true;

	for (uint32_t seed = 0; is_good && seed < n_runs; seed++) {
		struct pp_simulation_log with_log, without_log;
		const struct pp_ulcp_replay with = {before, &with_log};
		const struct pp_ulcp_replay without = {after, &without_log};
		bool is_with_good = simulate(before->model, seed, &with_log);

		is_good = simulate(after->model, seed, &without_log) && is_with_good;
		if (is_good)
			pp_ulcp_add_gains(models->pairs, models->sections, &with, &without);
		pp_simulation_log_done(&with_log);
		pp_simulation_log_done(&without_log);
	}
	for (guint i = 0; i < models->pairs->len; i++)
		g_array_index(models->pairs, struct pp_ulcp_pair, i).gain_ns /= n_runs;
	return is_good;
}

static double sum_gains(const GArray *pairs)
{
	double sum_ns = 0;

	for (guint i = 0; i < pairs->len; i++)
		sum_ns += g_array_index(pairs, struct pp_ulcp_pair, i).gain_ns;
	return sum_ns;
}

/* --- the run times ---------------------------------------------------------------------------- */

static void set_times(struct pp_cell *row, const struct replays *self)
{
	const struct pp_spread *with = &self->with.ns, *without = &self->without.ns;
	struct pp_cli_replay_effect effect = pp_cli_replay_effect(&self->with, &self->without);

	pp_cell_set_time(&row[WITH], (int64_t)with->mean);
	pp_cell_set_number(&row[WITH_SIGMA], 100 * with->sigma / MAX(with->mean, 1));
	pp_cell_set_time(&row[WITHOUT], (int64_t)without->mean);
	pp_cell_set_number(&row[WITHOUT_SIGMA], 100 * without->sigma / MAX(without->mean, 1));
	pp_cell_set_time(&row[LOST], row[WITH].time_ns - row[WITHOUT].time_ns);
	pp_cell_set_number(&row[LOST_PCT], -effect.pct);
	pp_cell_set_number(&row[LOST_ERROR], effect.error_pct);
}

static void add_row(struct pp_table *table, const struct replays *self, bool has_gains)
{
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_text(&row[ORDER], orders[self->order]);
	if (self->with.n_stuck || self->without.n_stuck)
		return;
	set_times(row, self);
	if (has_gains)
		pp_cell_set_time(&row[WASTED],
				 (int64_t)sum_gains(self->models->pairs) - row[LOST].time_ns);
}

/* Replays in one order, and adds the row. */
static int add_order(struct pp_table *table, struct replays *self, bool has_gains,
		     struct pp_error *err)
{
	bool is_skeleton = self->arguments->replay.engine == PP_CLI_REPLAY_SKELETON;
	int rc = run_all(self, err);
	g_autofree char *how = NULL;

	if (rc == 0) {
		add_row(table, self, has_gains);
		how = g_strdup_printf("%s in %s order", is_skeleton ? "replayed" : "simulated",
				      orders[self->order]);
		pp_cli_replay_note_fidelity(table, self->models->with[self->order].model,
					    &self->same, how);
		pp_cli_replay_note_stuck(table, MAX(self->with.n_stuck, self->without.n_stuck),
					 self->with.stuck ?: self->without.stuck);
	}
	pp_cli_replay_outcome_done(&self->same);
	pp_cli_replay_outcome_done(&self->with);
	pp_cli_replay_outcome_done(&self->without);
	return rc;
}

char *pp_cli_ulcp_words(const struct pp_table *times)
{
	const struct pp_cell *recorded = times->rows->pdata[PP_CLI_ULCP_RECORDED];
	const struct pp_cell *free_order = times->rows->pdata[PP_CLI_ULCP_FREE];

	if (recorded[LOST].missing || free_order[LOST].missing)
		return NULL;
	return g_strdup_printf("Lost to unnecessary lock contention: %.1f %% of the run time if "
			       "sections that contend keep their recorded order, %.1f %% if they "
			       "can have any order.",
			       recorded[LOST_PCT].number, free_order[LOST_PCT].number);
}

int pp_cli_ulcp_tables(const struct pp_cli_ulcp_arguments *arguments,
		       struct pp_cli_ulcp_models *models, GPtrArray *tables, struct pp_error *err)
{
	bool has_gains = add_gains(models, arguments->replay.n_runs);
	struct pp_table *table =
	    pp_table_new("ulcp_times", "Run time and unnecessary lock contention", columns,
			 G_N_ELEMENTS(columns));
	int rc = 0;

	g_ptr_array_add(tables, table);
	for (int order = 0; rc == 0 && order < PP_CLI_ULCP_N_ORDERS; order++) {
		struct replays self = {.arguments = arguments, .models = models, .order = order};

		rc = add_order(table, &self, has_gains && order == PP_CLI_ULCP_RECORDED, err);
	}
	if (rc == 0 && arguments->locksets) {
		struct pp_table *locksets = pp_cli_ulcp_locksets(arguments, models, err);

		if (!locksets)
			return -EINVAL;
		g_ptr_array_add(tables, locksets);
	}
	if (rc == 0) {
		pp_cli_ulcp_note_models(table, models, !arguments->accesses);
		g_ptr_array_add(tables, pp_cli_ulcp_sections(models));
		g_ptr_array_add(tables, pp_cli_ulcp_regions(models, has_gains));
	}
	return rc;
}
