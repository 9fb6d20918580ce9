/* SPDX-License-Identifier: MIT */
/* The tables of steps, failures and critical sections (tables.h). */
#include "cli/campaign/tables.h"

#include "cli/campaign/cells.h"
#include "cli/campaign/contention_table.h"
#include "cli/campaign/engine.h"
#include "cli/campaign/run_table.h"
#include "cli/campaign/scaling.h"
#include "cli/campaign/words.h"

/* --- steps ---------------------------------------------------------------------------------- */

enum {
	POINT,
	THREADS = POINT + PP_N_POINT_CELLS,
	RUNS,
	FAILED,
	WALL,
	SIGMA,
	USE,
	SLOWER,
	ROSE,
	VERDICT,
	SHARES,
	CAPTURE = SHARES + PP_N_TIME_CELLS,
	N_COLUMNS
};

static const struct pp_column columns[N_COLUMNS] = {
    PP_CAMPAIGN_POINT_COLUMNS(POINT),
    [THREADS] = {"threads", "threads", PP_TYPE_COUNT, PP_COLUMN_NO_SUM,
		 "as given, or the most that were alive at the same time in a recorded run"},
    [RUNS] = {"runs", "runs", PP_TYPE_COUNT, PP_COLUMN_MORE, "runs that count"},
    [FAILED] = {"failed", "failed", PP_TYPE_COUNT, 0, "runs that failed"},
    [WALL] = {"wall_ns", "run time", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "mean, without recording"},
    [SIGMA] = {"wall_sigma_ns", "sigma", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM,
	       "standard deviation of the run time"},
    [USE] = {"cpu_use_pct", "CPU use", PP_TYPE_PERCENT, PP_COLUMN_STAYS,
	     "mean of CPU time / (run time * the lesser of threads and CPUs)"},
    [SLOWER] = {"p_slower", "p slower", PP_TYPE_RATIO, PP_COLUMN_MORE,
		"probability of such run times if they had not risen since the row before"},
    [ROSE] = {"p_use_rose", "p use", PP_TYPE_RATIO, PP_COLUMN_MORE, "the same for the CPU use"},
    [VERDICT] = {"verdict", "verdict", PP_TYPE_TEXT, PP_COLUMN_STAYS,
		 "whether the workload exposes a synchronization problem, or why not"},
    PP_CAMPAIGN_TIME_COLUMNS(SHARES),
    [CAPTURE] = {"dir", "capture", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY, "of the recorded run"},
};

static const char *const verdicts[PP_N_VERDICTS] = {
    [PP_VERDICT_FIRST] = "first",
    [PP_VERDICT_KEPT] = "exposes a problem",
    [PP_VERDICT_NOT_SLOWER] = "run time did not rise",
    [PP_VERDICT_USE_ROSE] = "CPU use rose",
    [PP_VERDICT_BUSY] = "CPU use is 90 % or more",
    [PP_VERDICT_NO_WAITS] = "threads hardly waited for each other",
    [PP_VERDICT_NO_CPU] = "threads waited for CPUs instead",
    [PP_VERDICT_USE_UNKNOWN] = "CPU use unknown",
    [PP_VERDICT_TOO_FEW] = "fewer than two runs count",
    [PP_VERDICT_UNDECIDED] = "too few runs to decide",
    [PP_VERDICT_INCOMPLETE] = "not all runs made",
};

static void set_figures(struct pp_cell *row, const struct pp_step *step)
{
	pp_campaign_set_value(&row[THREADS], step->n_threads);
	pp_cell_set_count(&row[RUNS], step->wall->len);
	pp_cell_set_count(&row[FAILED], step->n_failed);
	if (step->wall->len)
		pp_cell_set_time(&row[WALL], (int64_t)(step->wall_spread.mean * 1e9));
	if (step->wall->len > 1)
		pp_cell_set_time(&row[SIGMA], (int64_t)(step->wall_spread.sigma * 1e9));
	if (step->use->len)
		pp_cell_set_number(&row[USE], 100 * step->use_spread.mean);
	if (step->slower >= 0)
		pp_cell_set_number(&row[SLOWER], step->slower);
	if (step->use_rose >= 0)
		pp_cell_set_number(&row[ROSE], step->use_rose);
	pp_cell_set_text(&row[VERDICT], verdicts[step->verdict]);
}

static struct pp_table *make_steps(struct pp_campaign *campaign)
{
	struct pp_table *table = pp_table_new("steps", "Workloads", columns, N_COLUMNS);

	table->is_in_order = true;
	for (guint t = 0; t < campaign->tested->len; t++) {
		const struct pp_tested *tested = campaign->tested->pdata[t];

		for (guint i = 0; i < tested->steps->len; i++) {
			const struct pp_step *step = tested->steps->pdata[i];
			struct pp_cell *row = pp_table_add_row(table);
			g_autofree char *dir = pp_campaign_capture(campaign, tested->test, step);

			pp_campaign_set_point(&row[POINT], tested->test->name, &step->point);
			set_figures(row, step);
			pp_cell_set_text(&row[CAPTURE], dir);
			pp_campaign_set_time(campaign, tested->test, step, table, &row[SHARES]);
		}
	}
	pp_campaign_words(campaign, table);
	return table;
}

/* --- failures ------------------------------------------------------------------------------- */

enum {
	FAILED_TEST,
	FAILED_WORKLOAD,
	FAILED_CPUS,
	FAILED_THREADS,
	FAILED_KIND,
	FAILED_WHY,
	FAILED_FILE,
	N_FAILURE_COLUMNS
};

static const struct pp_column failure_columns[N_FAILURE_COLUMNS] = {
    [FAILED_TEST] = {"test", "test", PP_TYPE_TEXT, PP_COLUMN_KEY, "its name"},
    [FAILED_WORKLOAD] = {"workload", "workload", PP_TYPE_COUNT, PP_COLUMN_KEY | PP_COLUMN_NO_SUM,
			 "the number for {w}"},
    [FAILED_CPUS] = {"cpus", "CPUs", PP_TYPE_COUNT, PP_COLUMN_NO_SUM, "as given"},
    [FAILED_THREADS] = {"threads", "threads", PP_TYPE_COUNT, PP_COLUMN_NO_SUM,
			"the number for {t}"},
    [FAILED_KIND] = {"kind", "run", PP_TYPE_TEXT, 0, "plain, warm-up or recorded"},
    [FAILED_WHY] = {"why", "why", PP_TYPE_TEXT, PP_COLUMN_STAYS, "how it failed"},
    [FAILED_FILE] = {"file", "printed", PP_TYPE_TEXT, PP_COLUMN_STAYS,
		     "what it printed, in the campaign's directory"},
};

static struct pp_table *make_failures(struct pp_campaign *campaign)
{
	struct pp_table *table =
	    pp_table_new("failures", "Failed runs", failure_columns, N_FAILURE_COLUMNS);

	for (guint i = 0; i < campaign->log.runs->len; i++) {
		const struct pp_campaign_run *run = campaign->log.runs->pdata[i];
		struct pp_cell *row;

		if (!run->failure)
			continue;
		row = pp_table_add_row(table);
		pp_cell_set_text(&row[FAILED_TEST], run->test);
		pp_campaign_set_value(&row[FAILED_WORKLOAD], run->point.workload);
		pp_campaign_set_value(&row[FAILED_CPUS], run->point.cpus);
		pp_campaign_set_value(&row[FAILED_THREADS], run->point.threads);
		pp_cell_set_text(&row[FAILED_KIND], pp_run_kinds[run->kind]);
		pp_cell_set_text(&row[FAILED_WHY], run->failure);
		pp_cell_set_text(&row[FAILED_FILE], run->file);
	}
	return table;
}

/* --- critical sections ---------------------------------------------------------------------- */

static const struct pp_column test_columns[] = {
    {"test", "test", PP_TYPE_TEXT, PP_COLUMN_KEY, "its name"},
    {"workload", "workload", PP_TYPE_COUNT, PP_COLUMN_KEY | PP_COLUMN_NO_SUM, "the kept one"},
};

/* The table of a ranking, with columns for the test, and without rows. */
static struct pp_table *ranking_new(const struct pp_table *like)
{
	GArray *own = g_array_new(FALSE, FALSE, sizeof(struct pp_column));

	g_array_append_vals(own, test_columns, G_N_ELEMENTS(test_columns));
	g_array_append_vals(own, like->columns, like->n_columns);
	return pp_table_new_own(like->key, like->title, own, g_string_chunk_new(256));
}

/* Moves the rows of a test's ranking, and copies its notes. */
static void move_rows(struct pp_table *to, struct pp_table *from, const struct pp_tested *tested)
{
	for (guint i = 0; i < from->rows->len; i++) {
		struct pp_cell *cells = from->rows->pdata[i];
		struct pp_cell *row = pp_table_add_row(to);

		pp_cell_set_text(&row[0], tested->test->name);
		pp_campaign_set_value(&row[1], tested->kept->point.workload);
		for (unsigned c = 0; c < from->n_columns; c++) {
			row[G_N_ELEMENTS(test_columns) + c] = cells[c];
			cells[c].missing = true;
		}
	}
	for (guint i = 0; i < from->notes->len; i++)
		pp_table_note(to, "%s: %s", tested->test->name,
			      (const char *)from->notes->pdata[i]);
}

static void add_ranking(struct pp_campaign *campaign, GPtrArray *tables)
{
	struct pp_table *to[3] = {NULL, NULL, NULL};

	for (guint t = 0; t < campaign->tested->len; t++) {
		const struct pp_tested *tested = campaign->tested->pdata[t];
		g_autoptr(GPtrArray) found =
		    g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);

		if (!tested->ranking || pp_ranking_counted(tested->ranking) < 2)
			continue;
		pp_ranking_tables(tested->ranking, found);
		g_ptr_array_add(found, pp_ranking_sections(tested->ranking));
		for (unsigned i = 0; i < G_N_ELEMENTS(to); i++) {
			struct pp_table *from = found->pdata[i];

			if (!to[i]) {
				to[i] = ranking_new(from);
				to[i]->text_rows = from->text_rows;
				to[i]->is_for_programs = from->is_for_programs;
				g_ptr_array_add(tables, to[i]);
			}
			move_rows(to[i], from, tested);
		}
	}
}

/* -------------------------------------------------------------------------------------------- */

static void add_if_filled(GPtrArray *tables, struct pp_table *table)
{
	if (table->rows->len)
		g_ptr_array_add(tables, table);
	else
		pp_table_free(table);
}

static void note_end(struct pp_campaign *campaign, struct pp_table *table)
{
	static const char *const why[] = {
	    [PP_END_INTERRUPTED] = "interrupted",
	    [PP_END_BUDGET] = "the time budget is used up",
	    [PP_END_FAILED] = "no further run is possible",
	};

	if (campaign->end != PP_END_DONE)
		pp_table_note(table, "%s: these are the results of %u runs; --resume continues",
			      why[campaign->end], campaign->log.runs->len);
}

void pp_campaign_tables(struct pp_campaign *campaign, GPtrArray *tables)
{
	struct pp_table *steps = make_steps(campaign);

	note_end(campaign, steps);
	g_ptr_array_add(tables, steps);
	add_ranking(campaign, tables);
	add_if_filled(tables, pp_campaign_table_contention(campaign));
	add_if_filled(tables, pp_campaign_table_scalability(campaign));
	add_if_filled(tables, pp_campaign_table_laws(campaign));
	add_if_filled(tables, pp_campaign_table_curves(campaign));
	add_if_filled(tables, make_failures(campaign));
	add_if_filled(tables, pp_campaign_table_runs(campaign));
}
