/* SPDX-License-Identifier: MIT */
/* See run_table.h. */
#include "cli/campaign/run_table.h"

#include "cli/campaign/cells.h"
#include "cli/usage.h"

enum {
	RUN,
	POINT,
	THREADS = POINT + PP_N_POINT_CELLS,
	KIND,
	WALL,
	USAGE,
	FAILURE = USAGE + PP_N_USAGE_CELLS,
	CAPTURE,
	N_COLUMNS
};

static const struct pp_column columns[N_COLUMNS] = {
    [RUN] = {"run", "run", PP_TYPE_COUNT, PP_COLUMN_KEY | PP_COLUMN_NO_SUM, "1, 2, ..."},
    PP_CAMPAIGN_POINT_COLUMNS(POINT),
    [THREADS] = {"threads", "threads", PP_TYPE_COUNT, PP_COLUMN_NO_SUM, "as in steps"},
    [KIND] = {"kind", "kind", PP_TYPE_TEXT, 0, "plain, warm-up or recorded"},
    [WALL] = {"wall_ns", "run time", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
	      "recorded: with the recording"},
    PP_CLI_USAGE_COLUMNS(USAGE),
    [FAILURE] = {"failure", "failed", PP_TYPE_TEXT, 0, "why it does not count; none: it does"},
    [CAPTURE] = {"dir", "capture", PP_TYPE_TEXT, 0, "of a recorded run"},
};

static const struct pp_step *find_step(const GPtrArray *steps, const struct pp_campaign_run *run)
{
	for (guint i = 0; i < steps->len; i++) {
		const struct pp_step *step = steps->pdata[i];

		if (pp_point_equal(&step->point, &run->point))
			return step;
	}
	return NULL;
}

/* The number of threads of the run's step; 0: not known. */
static int64_t threads_of(const struct pp_campaign *campaign, const struct pp_campaign_run *run)
{
	const struct pp_step *step = NULL;

	for (guint t = 0; t < campaign->tested->len && !step; t++) {
		const struct pp_tested *tested = campaign->tested->pdata[t];

		if (g_strcmp0(tested->test->name, run->test) != 0)
			continue;
		step = find_step(tested->steps, run);
		for (unsigned kind = 0; kind < PP_N_SERIES && !step; kind++)
			step = find_step(tested->series[kind], run);
	}
	return step ? step->n_threads : run->point.threads;
}

/* A recorded run's CPU time is also that of the recording, so its CPU use is not shown. */
static void set_run(struct pp_cell *row, const struct pp_campaign *campaign,
		    const struct pp_campaign_run *run)
{
	int64_t threads = threads_of(campaign, run);

	pp_campaign_set_point(&row[POINT], run->test, &run->point);
	pp_campaign_set_value(&row[THREADS], threads);
	pp_cell_set_text(&row[KIND], pp_run_kinds[run->kind]);
	pp_cell_set_time(&row[WALL], run->measured.wall_ns);
	pp_cli_set_usage(&row[USAGE], &run->measured, run->kind == PP_RUN_RECORDED ? 0 : threads,
			 pp_point_cpus(&run->point));
	pp_cell_set_text(&row[FAILURE], run->failure);
	if (run->kind == PP_RUN_RECORDED && !run->failure) {
		g_autofree char *dir = g_build_filename(campaign->log.dir, run->file, NULL);

		pp_cell_set_text(&row[CAPTURE], dir);
	}
}

struct pp_table *pp_campaign_table_runs(const struct pp_campaign *campaign)
{
	struct pp_table *table = pp_table_new("runs", "Runs", columns, N_COLUMNS);

	table->is_in_order = true;
	table->is_for_programs = true;
	for (guint i = 0; i < campaign->log.runs->len; i++) {
		struct pp_cell *row = pp_table_add_row(table);

		pp_cell_set_count(&row[RUN], i + 1);
		set_run(row, campaign, campaign->log.runs->pdata[i]);
	}
	return table;
}
