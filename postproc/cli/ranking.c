/* SPDX-License-Identifier: MIT */
/* See ranking.h.  Keeps the metrics of each run, and closes a capture before it opens the next. */
#include "cli/ranking.h"

#include <errno.h>
#include <inttypes.h>

#include "cli/captures.h"
#include "cli/commands.h"
#include "cli/view.h"
#include "core/text/json.h"
#include "pass/sydg/costs.h"

enum { RUN, CAPTURE, COMMAND, WALL, PROBLEMS, LEFT_OUT, N_COLUMNS };

static const struct pp_column columns[N_COLUMNS] = {
    [RUN] = {"run", "run", PP_TYPE_COUNT, PP_COLUMN_KEY | PP_COLUMN_NO_SUM, "1, 2, ..."},
    [CAPTURE] = {"dir", "capture", PP_TYPE_TEXT, PP_COLUMN_STAYS, "its directory"},
    [COMMAND] = {"command", "command", PP_TYPE_TEXT, 0, "as given to record"},
    [WALL] = {"wall_ns", "wall time", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM, "from start to end"},
    [PROBLEMS] = {"problems", "problems", PP_TYPE_COUNT, PP_COLUMN_NO_SUM,
		  "rows of its quality section"},
    [LEFT_OUT] = {"left_out", "left out", PP_TYPE_TEXT, PP_COLUMN_STAYS,
		  "why the run does not count; none: it does"},
};

/* The program of the first run that was read: the others must be runs of it. */
struct program {
	char *dir, *path, *build_id; /* NULL: not known */
};

struct pp_ranking {
	enum pp_bottleneck_metric metric;
	const char *clock; /* NULL: the default */
	struct pp_bottleneck_runs *runs;
	struct pp_table *table; /* of the runs; NULL: taken */
	struct program program;
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
	g_free(ranking->program.dir);
	g_free(ranking->program.path);
	g_free(ranking->program.build_id);
	g_free(ranking);
}

/* Why the run of a program does not count; NULL: it does. */
static char *reason_to_leave_out(const struct pp_view *view)
{
	void *info = view->capture->model->info;
	int64_t signal = pp_json_int(info, "signal", -1);
	int64_t exit_status = pp_json_int(info, "exit_status", -1);

	if (signal >= 0)
		return g_strdup_printf("ended by signal %" PRId64, signal);
	if (exit_status > 0)
		return g_strdup_printf("exit status %" PRId64, exit_status);
	return NULL;
}

/* Checks that the capture is one of the same program and build as the first one. */
static int check_program(struct pp_ranking *ranking, const struct pp_view *view,
			 struct pp_error *err)
{
	const struct pp_load *load = pp_cli_program(view);
	struct program *program = &ranking->program;
	const char *dir = view->capture->model->dir;

	if (!program->dir) {
		program->dir = g_strdup(dir);
		program->path = load ? g_path_get_basename(load->path) : NULL;
		program->build_id = load ? g_strdup(load->build_id) : NULL;
		return 0;
	}
	if (load && program->path) {
		g_autofree char *path = g_path_get_basename(load->path);

		if (!g_str_equal(path, program->path))
			return pp_error_add(err, -EINVAL,
					    "%s: a run of %s, but %s is one of %s: name the runs "
					    "of one program",
					    dir, path, program->dir, program->path);
	}
	if (load && load->build_id && program->build_id &&
	    !g_str_equal(load->build_id, program->build_id))
		return pp_error_add(err, -EINVAL,
				    "%s: another build of %s than in %s (build-ids %s and %s): "
				    "compare builds with `gprof-mt diff`",
				    dir, program->path, program->dir, load->build_id,
				    program->build_id);
	return 0;
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

static void add_run(struct pp_ranking *ranking, const struct pp_view *view, const char *left_out)
{
	const struct pp_model *model = view->capture->model;
	struct pp_cell *row = pp_table_add_row(ranking->table);
	g_autofree char *why = left_out ? g_strdup(left_out) : reason_to_leave_out(view);
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
	if (why)
		return;
	pp_bottleneck_runs_add(ranking->runs, tables[0]);
	ranking->n_counted++;
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
		rc = check_program(ranking, &view, err);
	if (rc == 0)
		rc = pp_view_run(&view, passes, G_N_ELEMENTS(passes), err);
	if (rc == 0)
		rc = check_costs(&view, err);
	if (rc == 0)
		add_run(ranking, &view, left_out);
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

struct pp_table *pp_ranking_take_runs(struct pp_ranking *ranking)
{
	return g_steal_pointer(&ranking->table);
}
