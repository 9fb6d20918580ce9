/* SPDX-License-Identifier: MIT */
/* Takes the figures from the tables of `report ulcp` and `predict ulcp`. */
#include "cli/campaign/contention.h"

#include <errno.h>

#include "cli/ulcp/tables.h"

static void add_counts(struct pp_contention *contention, const struct pp_table *processes)
{
	static const char *const keys[PP_CONTENTION_N] = {
	    [PP_CONTENTION_SECTIONS] = "sections",
	    [PP_CONTENTION_PAIRS] = "consecutive",
	    [PP_CONTENTION_NULL_LOCK] = "null_lock",
	    [PP_CONTENTION_READ_READ] = "read_read",
	    [PP_CONTENTION_DISJOINT] = "disjoint_write",
	    [PP_CONTENTION_BENIGN] = "benign",
	    [PP_CONTENTION_TRUE] = "true",
	    [PP_CONTENTION_UNDECIDED] = "undecided",
	    [PP_CONTENTION_UNNECESSARY] = "unnecessary",
	};

	for (guint row = 0; row < processes->rows->len; row++)
		for (unsigned i = 0; i < PP_CONTENTION_N; i++)
			contention->counts[i] += pp_table_count(processes, row, keys[i]);
	contention->has_counts = true;
}

static int replay(const struct pp_cli_ulcp_arguments *arguments, struct pp_cli_ulcp_models *models,
		  struct pp_contention *contention, struct pp_error *err)
{
	g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	int rc = pp_cli_ulcp_tables(arguments, models, tables, err);

	if (rc)
		return rc;
	for (guint order = 0; order < PP_CLI_ULCP_N_ORDERS; order++) {
		const struct pp_table *times = tables->pdata[0];
		const struct pp_cell *lost = pp_table_cell(times, order, "t_pd_pct");
		const struct pp_cell *error = pp_table_cell(times, order, "t_pd_error_pct");

		if (!lost || !error)
			return pp_error_add(err, -EDEADLK,
					    "threads wait for ever in a replay of %s",
					    arguments->replay.path);
		contention->lost_pct[order] = lost->number;
		contention->error_pct[order] = error->number;
	}
	contention->has_lost = true;
	return 0;
}

static void predict(struct pp_contention *contention, const char *dir)
{
	g_autoptr(GPtrArray) changes = g_ptr_array_new();
	const struct pp_cli_ulcp_arguments arguments = {
	    .replay = {.path = dir,
		       .changes = changes,
		       .n_runs = PP_CLI_REPLAY_RUNS,
		       .cost_ns = -1,
		       .is_quiet = true},
	};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_cli_ulcp_models models;
	int rc = pp_cli_ulcp_models_make(&models, &arguments, &err);

	if (rc == 0)
		rc = replay(&arguments, &models, contention, &err);
	pp_cli_ulcp_models_done(&models);
	if (rc) {
		contention->why_not = pp_error_text(&err);
		pp_error_done(&err);
	}
}

void pp_contention_read(const struct pp_view *view, const char *dir, struct pp_contention *ret)
{
	const struct pp_table *processes;

	*ret = (struct pp_contention){0};
	if (!pp_view_has_accesses(view))
		return;
	processes = pp_pass_set_table(view->passes, PP_CONTENTION_PASS, "ulcp");
	if (processes)
		add_counts(ret, processes);
	predict(ret, dir);
}

void pp_contention_done(struct pp_contention *contention)
{
	g_free(contention->why_not);
}
