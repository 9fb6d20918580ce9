/* SPDX-License-Identifier: MIT */
/* gprof-mt replay: replays a run on simulated CPUs, from a capture or a model. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "campaign/plan.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/tables.h"
#include "cli/view.h"
#include "core/text/duration.h"
#include "core/text/json.h"
#include "replay/build.h"
#include "replay/model_file.h"
#include "replay/simulate.h"
#include "statistics/spread.h"

#define N_RUNS	 10
#define MAX_CPUS 1024

struct arguments {
	struct pp_cli_tables how;
	const char *write;
	GArray *cpus;	    /* of int64_t, rising; NULL: those of the recorded machine */
	GPtrArray *dropped; /* of const char * */
	uint32_t n_runs;
	bool fair, allow_gaps;
};

enum { OPTION_CPUS = 0x300, OPTION_DROP, OPTION_FAIR, OPTION_GAPS, OPTION_RUNS, OPTION_WRITE };

static int take_cpus(const char *value, GArray **cpus)
{
	struct pp_error err = PP_ERROR_INIT;
	int rc;

	g_clear_pointer(cpus, g_array_unref);
	rc = pp_numbers_read(value, cpus, &err);
	pp_error_done(&err);
	if (rc == 0 && g_array_index(*cpus, int64_t, (*cpus)->len - 1) <= MAX_CPUS)
		return PP_EXIT_GOOD;
	return pp_cli_usage(
	    "replay",
	    "invalid --cpus '%s' (expected N, A..B, or several that rise, from 1 to "
	    "%d)",
	    value, MAX_CPUS);
}

static int take_runs(const char *value, uint32_t *ret)
{
	guint64 n;

	if (!g_ascii_string_to_unsigned(value, 10, 2, 1000, &n, NULL))
		return pp_cli_usage("replay", "invalid --runs '%s' (expected 2 to 1000)", value);
	*ret = (uint32_t)n;
	return PP_EXIT_GOOD;
}

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	switch (option) {
	case OPTION_CPUS:
		return take_cpus(value, &arguments->cpus);
	case OPTION_RUNS:
		return take_runs(value, &arguments->n_runs);
	case OPTION_DROP:
		g_ptr_array_add(arguments->dropped, (char *)value);
		return PP_EXIT_GOOD;
	case OPTION_FAIR:
		arguments->fair = true;
		return PP_EXIT_GOOD;
	case OPTION_GAPS:
		arguments->allow_gaps = true;
		return PP_EXIT_GOOD;
	case OPTION_WRITE:
		arguments->write = value;
		return PP_EXIT_GOOD;
	default:
		pp_cli_tables_take("replay", &arguments->how, option, value, &status);
		return status;
	}
}

static const struct pp_cli_option option_table[] = {
    {"cpus", "LIST", OPTION_CPUS, "numbers of CPUs: 1..8, or 1,2,4 (default: as recorded)"},
    {"drop", "LOCK", OPTION_DROP, "and what it would bring never to take this lock"},
    {"fair", NULL, OPTION_FAIR, "locks are handed over in the order of arrival"},
    {"runs", "N", OPTION_RUNS, "simulations of each (default 10)"},
    {"allow-gaps", NULL, OPTION_GAPS, "replay what is known of an incomplete capture"},
    {"write", "FILE", OPTION_WRITE, "write the model to FILE, too"},
    PP_CLI_TABLES_OPTIONS,
    PP_CLI_OPTION_QUIET,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "replay",
    .letters = ":hq",
    .table = option_table,
    .usage = "replay [OPTION...] [DIR | MODEL]",
    .take = take_option,
};

/* --- the model ------------------------------------------------------------------------------ */

struct reading {
	struct pp_replay_builder *builder;
	int64_t last_ns;
};

static void take_event(void *data, const struct pp_event *event)
{
	struct reading *reading = data;

	reading->last_ns = MAX(reading->last_ns, event->time_ns);
	pp_replay_builder_event(reading->builder, event);
}

/* Returns 0 or -errno if the capture does not tell enough. */
static int check_gaps(const struct arguments *arguments, const struct pp_view *view,
		      const struct pp_replay_gaps *gaps, struct pp_error *err)
{
	const char *dir = view->capture->model->dir;

	if (arguments->allow_gaps)
		return 0;
	if (gaps->only_counted)
		return pp_error_add(err, -ENODATA,
				    "%s: %" PRIu64
				    " threads have only their waits recorded: record with "
				    "--set sync.mode=all, or use --allow-gaps",
				    dir, gaps->only_counted);
	if (gaps->lost_events)
		return pp_error_add(err, -ENODATA,
				    "%s: %" PRIu64 " synch-events are lost: use --allow-gaps", dir,
				    gaps->lost_events);
	return 0;
}

static int check_processes(const struct pp_view *view, struct pp_error *err)
{
	const GPtrArray *processes = view->capture->model->processes;
	unsigned n = 0;

	for (guint i = 0; i < processes->len; i++)
		n += ((const struct pp_process *)processes->pdata[i])->dir != NULL;
	if (n == 1)
		return 0;
	return pp_error_add(err, -ENOTSUP,
			    "%s: %u processes were recorded, and one can be replayed",
			    view->capture->model->dir, n);
}

static struct pp_replay_model *build(const struct arguments *arguments, struct pp_view *view,
				     struct pp_replay_gaps *ret_gaps, struct pp_error *err)
{
	struct reading reading = {.last_ns = INT64_MIN};
	struct pp_replay_model *model = NULL;
	JsonObject *host = pp_json_object(view->capture->model->info, "host");
	int64_t cpus = pp_json_int(host, "usable_cpus", pp_json_int(host, "cpus", 1));
	uint32_t n_cpus = (uint32_t)CLAMP(cpus, 1, MAX_CPUS);
	g_autofree char *wrong = NULL;

	if (check_processes(view, err))
		return NULL;
	reading.builder = pp_replay_builder_new(&view->context);
	if (pp_view_read(view, PP_REPLAY_KINDS, take_event, &reading, err) == 0)
		model =
		    pp_replay_builder_finish(reading.builder, n_cpus, reading.last_ns, ret_gaps);
	pp_replay_builder_free(reading.builder);
	if (!model)
		return NULL;
	wrong = pp_replay_check(model);
	if (wrong)
		pp_error_add(err, -ENODATA, "%s: %s", view->capture->model->dir, wrong);
	if (wrong || check_gaps(arguments, view, ret_gaps, err))
		g_clear_pointer(&model, pp_replay_model_free);
	return model;
}

/* --- simulations ---------------------------------------------------------------------------- */

struct outcome {
	struct pp_spread ns, cpus; /* run time; CPUs used, on average */
	uint32_t n_stuck;
};

static struct outcome simulate(const struct arguments *arguments,
			       const struct pp_replay_model *model, uint32_t n_cpus,
			       uint32_t others, const bool *drops)
{
	g_autofree double *ns = g_new(double, arguments->n_runs);
	g_autofree double *cpus = g_new(double, arguments->n_runs);
	struct outcome outcome = {0};

	for (uint32_t i = 0; i < arguments->n_runs; i++) {
		struct pp_simulation how = {n_cpus, others, arguments->fair, i, drops};
		struct pp_simulated simulated;

		pp_simulate(model, &how, &simulated);
		ns[i] = (double)simulated.ns;
		cpus[i] = (double)simulated.cpu_ns / (double)MAX(simulated.ns, 1);
		outcome.n_stuck = MAX(outcome.n_stuck, simulated.n_stuck);
		pp_simulated_done(&simulated);
	}
	outcome.ns = pp_spread_of(ns, arguments->n_runs);
	outcome.cpus = pp_spread_of(cpus, arguments->n_runs);
	return outcome;
}

enum { CPUS, RUN, SIGMA, SPEEDUP, USED, WITHOUT, CHANGE, CHANGE_SIGMA };

static const struct pp_column columns[] = {
    [CPUS] = {"cpus", "CPUs", PP_TYPE_COUNT, PP_COLUMN_KEY, "simulated CPUs"},
    [RUN] = {"run_ns", "run time", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "mean of all simulations"},
    [SIGMA] = {"sigma_pct", "sigma%", PP_TYPE_PERCENT, 0, "its standard deviation"},
    [SPEEDUP] = {"speedup", "speedup", PP_TYPE_RATIO, 0, "to the first row"},
    [USED] = {"used_cpus", "used", PP_TYPE_RATIO, 0, "CPUs used, on average"},
    [WITHOUT] = {"changed_ns", "changed", PP_TYPE_TIME_NS, 0, "run time with the change"},
    [CHANGE] = {"change_pct", "change%", PP_TYPE_PERCENT, PP_COLUMN_SIGNED, "of the run time"},
    [CHANGE_SIGMA] = {"change_error_pct", "+/-%", PP_TYPE_PERCENT, 0,
		      "half of the 95 % confidence interval of the change"},
};

static void set_change(struct pp_cell *row, const struct outcome *before,
		       const struct outcome *after)
{
	double error =
	    sqrt((before->ns.sigma * before->ns.sigma + after->ns.sigma * after->ns.sigma) /
		 (double)before->ns.n);

	pp_cell_set_time(&row[WITHOUT], (int64_t)after->ns.mean);
	pp_cell_set_number(&row[CHANGE],
			   100 * (after->ns.mean - before->ns.mean) / before->ns.mean);
	pp_cell_set_number(&row[CHANGE_SIGMA], 100 * 1.96 * error / before->ns.mean);
}

static bool *find_dropped(const struct arguments *arguments, const struct pp_replay_model *model,
			  struct pp_error *err)
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

static void note_fidelity(struct pp_table *table, const struct pp_replay_model *model,
			  const struct outcome *same)
{
	g_autofree char *recorded = pp_duration_text(model->recorded_ns);
	g_autofree char *simulated = pp_duration_text((int64_t)same->ns.mean);

	if (!model->recorded_ns)
		return;
	pp_table_note(
	    table,
	    "fidelity: recorded %s, simulated on as many CPUs (%u) %s: %+.1f %%, sigma %.1f %%",
	    recorded, model->n_cpus, simulated,
	    100 * (same->ns.mean / (double)model->recorded_ns - 1),
	    100 * same->ns.sigma / MAX(same->ns.mean, 1));
}

static void set_row(struct pp_cell *row, const struct outcome *outcome, double first_ns)
{
	pp_cell_set_time(&row[RUN], (int64_t)outcome->ns.mean);
	pp_cell_set_number(&row[SIGMA], 100 * outcome->ns.sigma / MAX(outcome->ns.mean, 1));
	if (first_ns > 0)
		pp_cell_set_number(&row[SPEEDUP], first_ns / MAX(outcome->ns.mean, 1));
	pp_cell_set_number(&row[USED], outcome->cpus.mean);
}

/*
 * Adds a row for each number of CPUs. `same`: the simulation of the recorded run. Returns the
 * number of threads that wait for ever in one of the simulations, whose figures are missing.
 */
static uint32_t add_rows(struct pp_table *table, const struct arguments *arguments,
			 const struct pp_replay_model *model, const struct outcome *same,
			 const bool *drops)
{
	uint32_t n_stuck = same->n_stuck;
	double first_ns = 0;

	for (guint i = 0; i < (arguments->cpus ? arguments->cpus->len : 1); i++) {
		uint32_t n_cpus = arguments->cpus
				      ? (uint32_t)g_array_index(arguments->cpus, int64_t, i)
				      : model->n_cpus;
		struct outcome outcome = n_cpus == model->n_cpus && !model->others
					     ? *same
					     : simulate(arguments, model, n_cpus, 0, NULL);
		struct outcome changed = {0};
		struct pp_cell *row = pp_table_add_row(table);

		if (i == 0 && !outcome.n_stuck)
			first_ns = outcome.ns.mean;
		pp_cell_set_count(&row[CPUS], n_cpus);
		if (!outcome.n_stuck)
			set_row(row, &outcome, first_ns);
		if (drops)
			changed = simulate(arguments, model, n_cpus, 0, drops);
		if (drops && !outcome.n_stuck && !changed.n_stuck)
			set_change(row, &outcome, &changed);
		n_stuck = MAX(n_stuck, MAX(outcome.n_stuck, changed.n_stuck));
	}
	return n_stuck;
}

static void note_gaps(struct pp_table *table, const struct pp_replay_gaps *gaps, uint32_t n_stuck)
{
	g_autofree char *filled = pp_duration_text(gaps->filled_ns);

	if (n_stuck)
		pp_table_note(table,
			      "%u %s for ever in the replay: what ends the wait was not recorded",
			      n_stuck, n_stuck == 1 ? "thread waits" : "threads wait");
	if (gaps->late_threads)
		pp_table_note(
		    table,
		    "%" PRIu64
		    " threads have no known creator: they begin when they did in the recorded run",
		    gaps->late_threads);
	if (gaps->unknown_waits)
		pp_table_note(table,
			      "%" PRIu64 " waits of unknown end are sleeps of the same length: %s",
			      gaps->unknown_waits, filled);
}

static int print_replays(const struct arguments *arguments, const struct pp_replay_model *model,
			 const struct pp_replay_gaps *gaps)
{
	bool has_change = arguments->dropped->len != 0;
	struct pp_error err = PP_ERROR_INIT;
	g_autofree bool *drops = find_dropped(arguments, model, &err);
	struct pp_table *table;
	struct outcome same;
	uint32_t n_stuck;
	int status;

	if (!drops)
		return pp_cli_fail(&err);
	table = pp_table_new("replays", "Simulated run times", columns,
			     has_change ? G_N_ELEMENTS(columns) : WITHOUT);
	same = simulate(arguments, model, model->n_cpus, model->others, NULL);
	n_stuck = add_rows(table, arguments, model, &same, has_change ? drops : NULL);
	if (!same.n_stuck)
		note_fidelity(table, model, &same);
	note_gaps(table, gaps, n_stuck);
	status = pp_cli_tables_print(&arguments->how, &table, 1);
	pp_table_free(table);
	return status;
}

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static int replay(const struct arguments *arguments, const char *path)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_replay_gaps gaps = {0};
	struct pp_replay_model *model = NULL;
	struct pp_view view = {0};
	bool is_model = is_file(path);
	int status = PP_EXIT_GOOD;

	if (is_model) {
		model = pp_replay_read(path, &err);
	} else if (pp_view_open(&view, path, NULL, &err) == 0) {
		model = build(arguments, &view, &gaps, &err);
		status = model ? pp_view_print_damage(&view) : status;
	}
	if (!is_model)
		pp_view_done(&view);
	if (!model || (arguments->write && pp_replay_write(model, arguments->write, &err))) {
		status = pp_cli_fail(&err);
	} else {
		int printed = print_replays(arguments, model, &gaps);

		status = MAX(status, printed);
	}
	pp_replay_model_free(model);
	return status;
}

int pp_cmd_replay(int argc, char **argv)
{
	struct arguments arguments = {.dropped = g_ptr_array_new(), .n_runs = N_RUNS};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status < 0) {
		status = argc - optind > 1 ? pp_cli_usage("replay", "expected one capture or model")
					   : pp_cli_tables_check("replay", &arguments.how, 1);
		if (status == PP_EXIT_GOOD)
			status =
			    replay(&arguments, optind < argc ? argv[optind] : PP_DEFAULT_CAPTURE);
	}
	g_clear_pointer(&arguments.cpus, g_array_unref);
	g_ptr_array_unref(arguments.dropped);
	return status;
}
