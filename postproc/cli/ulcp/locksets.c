/* SPDX-License-Identifier: MIT */
/* The first row, with waits, is that to which the others are compared. */
#include "cli/ulcp/locksets.h"

#include "cli/replay/notes.h"
#include "cli/replay/runs.h"
#include "replay/ulcp/locksets.h"

enum { HOW, LOCKS, RUN, SIGMA, COST, COST_ERROR };

static const struct pp_column columns[] = {
    [HOW] = {"how", "how", PP_TYPE_TEXT, PP_COLUMN_KEY, "the order is kept"},
    [LOCKS] = {"locks", "locks", PP_TYPE_COUNT, 0, "auxiliary locks"},
    [RUN] = {"run_ns", "run time", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "mean of all runs"},
    [SIGMA] = {"sigma_pct", "sigma%", PP_TYPE_PERCENT, 0, "its standard deviation"},
    [COST] = {"cost_pct", "cost%", PP_TYPE_PERCENT, PP_COLUMN_SIGNED, "of the run time with waits"},
    [COST_ERROR] = {"cost_error_pct", "+/-%", PP_TYPE_PERCENT, 0,
		    "half of the 95 % confidence interval of the cost"},
};

enum { WAITS, STATIC, DYNAMIC, N_ROWS };

static const char *const names[] = {
    [WAITS] = "waits", [STATIC] = "locksets", [DYNAMIC] = "locksets, dynamic"};

/* Adds a row; waits: the outcome to which it is compared; NULL: it is that one. */
static void add_row(struct pp_table *table, unsigned at, uint32_t n_locks,
		    const struct pp_cli_replay_outcome *outcome,
		    const struct pp_cli_replay_outcome *waits)
{
	struct pp_cell *row = pp_table_add_row(table);
	struct pp_cli_replay_effect effect;

	pp_cell_set_text(&row[HOW], names[at]);
	pp_cell_set_count(&row[LOCKS], n_locks);
	pp_cli_replay_note_stuck(table, outcome->n_stuck, outcome->stuck);
	if (outcome->n_stuck)
		return;
	pp_cell_set_time(&row[RUN], (int64_t)outcome->ns.mean);
	pp_cell_set_number(&row[SIGMA], 100 * outcome->ns.sigma / MAX(outcome->ns.mean, 1));
	if (at == WAITS || waits->n_stuck)
		return;
	effect = pp_cli_replay_effect(waits, outcome);
	pp_cell_set_number(&row[COST], effect.pct);
	pp_cell_set_number(&row[COST_ERROR], effect.error_pct);
}

/* Runs one of the models. */
static int run(const struct pp_cli_ulcp_arguments *arguments,
	       const struct pp_cli_ulcp_models *models, const GArray *waits, unsigned at,
	       uint32_t *ret_locks, struct pp_cli_replay_outcome *ret, struct pp_error *err)
{
	const struct pp_replay_model *model = models->source.model;
	struct pp_ulcp_result result = {0};
	int rc;

	*ret_locks = 0;
	if (at == WAITS)
		pp_ulcp_transform(model, waits, &result);
	else
		*ret_locks =
		    pp_ulcp_locksets(model, models->sections, waits, at == DYNAMIC, &result);
	rc = pp_cli_replay_run(&arguments->replay, result.model, model->n_cpus, 0, ret, err);
	pp_ulcp_result_done(&result);
	return rc;
}

struct pp_table *pp_cli_ulcp_locksets(const struct pp_cli_ulcp_arguments *arguments,
				      const struct pp_cli_ulcp_models *models, struct pp_error *err)
{
	g_autoptr(GArray) waits =
	    pp_ulcp_waits(models->source.model, models->sections, models->edges.edges);
	struct pp_table *table = pp_table_new("ulcp_locksets", "Auxiliary locks in place of waits",
					      columns, G_N_ELEMENTS(columns));
	struct pp_cli_replay_outcome outcomes[N_ROWS] = {0};
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < N_ROWS; i++) {
		uint32_t n_locks;

		rc = run(arguments, models, waits, i, &n_locks, &outcomes[i], err);
		if (rc == 0)
			add_row(table, i, n_locks, &outcomes[i], &outcomes[WAITS]);
	}
	for (unsigned i = 0; i < N_ROWS; i++)
		pp_cli_replay_outcome_done(&outcomes[i]);
	if (rc)
		g_clear_pointer(&table, pp_table_free);
	return table;
}
