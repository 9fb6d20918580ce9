/* SPDX-License-Identifier: MIT */
/* See ranking.h.  Keeps the metrics of each run, and closes a capture before it opens the next. */
#include "cli/ranking.h"

#include <errno.h>
#include <inttypes.h>

#include "cli/captures.h"
#include "cli/commands.h"
#include "cli/peak.h"
#include "cli/program_runs.h"
#include "cli/usage.h"
#include "cli/view.h"
#include "core/text/duration.h"
#include "core/text/json.h"
#include "pass/sydg/costs.h"

enum {
	RUN,
	CAPTURE,
	COMMAND,
	WALL,
	PROBLEMS,
	LEFT_OUT,
	THREADS,
	CPUS,
	USAGE,
	N_COLUMNS = USAGE + PP_N_USAGE_CELLS
};

static const struct pp_column columns[N_COLUMNS] = {
    [RUN] = {"run", "run", PP_TYPE_COUNT, PP_COLUMN_KEY | PP_COLUMN_NO_SUM, "1, 2, ..."},
    [CAPTURE] = {"dir", "capture", PP_TYPE_TEXT, PP_COLUMN_STAYS, "its directory"},
    [COMMAND] = {"command", "command", PP_TYPE_TEXT, 0, "as given to record"},
    [WALL] = {"wall_ns", "wall time", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM, "from start to end"},
    [PROBLEMS] = {"problems", "problems", PP_TYPE_COUNT, PP_COLUMN_NO_SUM,
		  "rows of its quality section"},
    [LEFT_OUT] = {"left_out", "left out", PP_TYPE_TEXT, PP_COLUMN_STAYS,
		  "why the run does not count; none: it does"},
    [THREADS] = {"threads", "threads", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_MAX,
		 "the most that were alive at the same time"},
    [CPUS] = {"cpus", "CPUs", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_NO_SUM,
	      "of the machine"},
    PP_CLI_USAGE_COLUMNS(USAGE),
};

struct pp_ranking {
	enum pp_bottleneck_metric metric;
	const char *clock; /* NULL: the default */
	struct pp_bottleneck_runs *runs;
	struct pp_table *table; /* of the runs; NULL: taken */
	struct pp_cli_program_runs program;
	struct pp_origin origin;
	guint n_added, n_counted;
};

int pp_ranking_take_metric(const char *command, const char *value,
			   enum pp_bottleneck_metric *ret_metric)
{
	for (unsigned i = 0; i < PP_N_BOTTLENECK_METRICS; i++)
		if (g_str_equal(value, pp_bottleneck_metrics[i])) {
			*ret_metric = i;
			return PP_EXIT_GOOD;
		}
	return pp_cli_usage(command, "invalid --metric '%s' (expected apwt, cpwt, aplt or mean)",
			    value);
}

struct pp_ranking *pp_ranking_new(enum pp_bottleneck_metric metric, const char *clock)
{
	struct pp_ranking *ranking = g_new0(struct pp_ranking, 1);

	ranking->metric = metric;
	ranking->clock = clock;
	ranking->runs = pp_bottleneck_runs_new(g_strcmp0(clock, "conditionals") == 0);
	ranking->table = pp_table_new("runs", "Runs", columns, N_COLUMNS);
	return ranking;
}

void pp_ranking_free(struct pp_ranking *ranking)
{
	if (!ranking)
		return;
	pp_bottleneck_runs_free(ranking->runs);
	if (ranking->table)
		pp_table_free(ranking->table);
	pp_origin_done(&ranking->origin);
	pp_cli_program_runs_done(&ranking->program);
	g_free(ranking);
}

/* Checks that the costs are known by the clock that was asked for. */
static int check_costs(const struct pp_view *view, struct pp_error *err)
{
	unsigned n = 0;
	struct pp_table **tables = pp_pass_set_tables(view->passes, "bottlenecks", &n);

	for (guint i = 0; i < tables[0]->notes->len; i++)
		if (g_str_equal(tables[0]->notes->pdata[i], PP_NO_CONDITIONALS))
			return pp_error_add(err, -ENODATA, "%s: %s", view->capture->model->dir,
					    PP_NO_CONDITIONALS);
	return 0;
}

/* The resources that the run used, if `record` noted them. */
static void set_usage(struct pp_cell *row, const struct pp_model *model)
{
	JsonObject *usage = pp_json_object(model->info, "rusage");
	int64_t threads = pp_cli_peak_threads(model);
	int64_t cpus = pp_json_int(pp_json_object(model->info, "host"), "cpus", 0);
	struct pp_measured measured = {
	    .user_ns = pp_json_int(usage, "user_ns", 0),
	    .system_ns = pp_json_int(usage, "system_ns", 0),
	    .max_rss_bytes = pp_json_int(usage, "max_rss_bytes", 0),
	    .voluntary = pp_json_int(usage, "voluntary", 0),
	    .involuntary = pp_json_int(usage, "involuntary", 0),
	};

	if (!row[WALL].missing)
		measured.wall_ns = row[WALL].time_ns;
	if (threads > 0)
		pp_cell_set_count(&row[THREADS], (uint64_t)threads);
	if (cpus > 0)
		pp_cell_set_count(&row[CPUS], (uint64_t)cpus);
	if (usage)
		pp_cli_set_usage(&row[USAGE], &measured, threads,
				 (unsigned)CLAMP(cpus, 0, G_MAXINT));
}

static void add_run(struct pp_ranking *ranking, const struct pp_view *view, const char *left_out)
{
	const struct pp_model *model = view->capture->model;
	struct pp_cell *row = pp_table_add_row(ranking->table);
	g_autofree char *why = left_out ? g_strdup(left_out) : pp_cli_run_failure(view);
	g_autofree char *command = pp_cli_command(view);
	unsigned n = 0;
	struct pp_table **tables = pp_pass_set_tables(view->passes, "bottlenecks", &n);

	pp_cell_set_count(&row[RUN], ranking->n_added);
	pp_cell_set_text(&row[CAPTURE], model->dir);
	pp_cell_set_text(&row[COMMAND], command);
	if (model->end_ns != PP_TIME_UNKNOWN)
		pp_cell_set_time(&row[WALL], model->end_ns - pp_model_origin(model));
	pp_cell_set_count(&row[PROBLEMS], model->problems->len);
	pp_cell_set_text(&row[LEFT_OUT], why);
	set_usage(row, model);
	if (why)
		return;
	pp_bottleneck_runs_add(ranking->runs, model->dir, tables[0]);
	ranking->n_counted++;
}

/* A run that cannot be used. */
static void add_unusable(struct pp_ranking *ranking, const char *dir, const struct pp_error *err)
{
	struct pp_cell *row = pp_table_add_row(ranking->table);
	g_autofree char *why = pp_error_text(err);

	pp_cell_set_count(&row[RUN], ranking->n_added);
	pp_cell_set_text(&row[CAPTURE], dir);
	pp_cell_set_text(&row[LEFT_OUT], why);
}

int pp_ranking_add(struct pp_ranking *ranking, const char *dir, const char *left_out,
		   struct pp_error *err)
{
	static const char *const passes[] = {"bottlenecks"};
	g_autoptr(GHashTable) pass_options = g_hash_table_new(g_str_hash, g_str_equal);
	struct pp_view view = {0};
	int rc;

	ranking->n_added++;
	if (ranking->clock)
		g_hash_table_insert(pass_options, "clock", (void *)ranking->clock);
	rc = pp_view_open(&view, dir, pass_options, err);
	if (rc == 0)
		rc = pp_cli_program_runs_check(&ranking->program, &view, err);
	if (rc == 0)
		rc = pp_view_run(&view, passes, G_N_ELEMENTS(passes), err);
	if (rc == 0)
		rc = check_costs(&view, err);
	if (rc == 0) {
		pp_origin_read(&ranking->origin, &view);
		add_run(ranking, &view, left_out);
	} else {
		add_unusable(ranking, dir, err);
	}
	pp_view_done(&view);
	return rc;
}

guint pp_ranking_counted(const struct pp_ranking *ranking)
{
	return ranking->n_counted;
}

bool pp_ranking_is_conclusive(const struct pp_ranking *ranking)
{
	return pp_bottleneck_runs_are_conclusive(ranking->runs, ranking->metric);
}

static void add_notes(const struct pp_ranking *ranking, const GPtrArray *tables)
{
	struct pp_table *conclusive = tables->pdata[tables->len - 2];
	const struct pp_table *others = tables->pdata[tables->len - 1];
	static const char *const names[PP_N_BOTTLENECK_METRICS] = {[PP_BY_APWT] = "APWT",
								   [PP_BY_CPWT] = "CPWT",
								   [PP_BY_APLT] = "APLT",
								   [PP_BY_MEAN] =
								       "the mean of APWT and CPWT"};

	pp_table_note(conclusive, "mean and standard deviation of %s in %u runs",
		      names[ranking->metric], ranking->n_counted);
	if (!conclusive->rows->len && others->rows->len)
		pp_table_note(conclusive,
			      "no section has a sigma below 1 %% of its mean: the order of the "
			      "inconclusive ones may change with more runs");
	else if (!others->rows->len && !conclusive->rows->len)
		pp_table_note(conclusive, "no thread waited for a critical section");
}

void pp_ranking_tables(const struct pp_ranking *ranking, GPtrArray *tables)
{
	pp_bottleneck_runs_tables(ranking->runs, ranking->metric, tables);
	add_notes(ranking, tables);
}

struct pp_table *pp_ranking_sections(const struct pp_ranking *ranking)
{
	return pp_bottleneck_runs_sections(ranking->runs, ranking->metric);
}

/* --- the cause ------------------------------------------------------------------------------ */

/* The column of a cost: "mean_ns" or "mean_conditionals". */
static unsigned cost_column(const struct pp_table *table, const char *cost)
{
	g_autofree char *time = g_strconcat(cost, "_ns", NULL);
	g_autofree char *counted = g_strconcat(cost, "_conditionals", NULL);
	int at = pp_table_column(table, time);

	return (unsigned)(at >= 0 ? at : pp_table_column(table, counted));
}

static double mean_of(const struct pp_table *table)
{
	const struct pp_cell *row = table->rows->pdata[0];
	unsigned at = cost_column(table, "mean");

	return pp_cell_number(&row[at], table->columns[at].type);
}

/* The table with the leading row, conclusive or not; NULL: there is none. */
static const struct pp_table *leading_table(const GPtrArray *tables)
{
	const struct pp_table *best = NULL;

	for (guint i = 0; i < tables->len; i++) {
		const struct pp_table *table = tables->pdata[i];

		if (table->rows->len && (!best || mean_of(table) > mean_of(best)))
			best = table;
	}
	return best;
}

static const char *text_at(const struct pp_table *table, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, 0, key);

	return cell ? cell->text : "?";
}

static char *cost_text(const struct pp_table *table, const char *cost)
{
	const struct pp_cell *row = table->rows->pdata[0];
	unsigned at = cost_column(table, cost);

	return pp_cell_text(&row[at], &table->columns[at]);
}

/* How sure the mean is. */
static char *confidence(const struct pp_table *table, unsigned n_runs)
{
	const struct pp_cell *sigma = pp_table_cell(table, 0, "sigma_pct");
	g_autofree char *low = cost_text(table, "least"), *high = cost_text(table, "most");

	if (!sigma)
		return g_strdup_printf("in %u runs", n_runs);
	return g_strdup_printf("in the mean of %u runs, %s to %s in single ones (sigma %.1f %%)",
			       n_runs, low, high, sigma->number);
}

char *pp_ranking_cause(const struct pp_ranking *ranking)
{
	g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	bool is_counted = g_strcmp0(ranking->clock, "conditionals") == 0;
	const struct pp_table *leading;
	g_autofree char *mean = NULL, *sure = NULL;

	pp_bottleneck_runs_tables(ranking->runs, ranking->metric, found);
	leading = leading_table(found);
	if (!leading)
		return NULL;
	mean = cost_text(leading, "mean");
	sure = confidence(leading, ranking->n_counted);
	return g_strdup_printf("%s (%s), entered at %s and left at %s: others lost %s%s to it %s",
			       text_at(leading, "lock"), text_at(leading, "type"),
			       text_at(leading, "entry"), text_at(leading, "exit"), mean,
			       is_counted ? " conditionals" : "", sure);
}

/* -------------------------------------------------------------------------------------------- */

const struct pp_origin *pp_ranking_origin(const struct pp_ranking *ranking)
{
	return &ranking->origin;
}

struct pp_table *pp_ranking_take_runs(struct pp_ranking *ranking)
{
	return g_steal_pointer(&ranking->table);
}
