/* SPDX-License-Identifier: MIT */
/* gprof-mt top: the threads and waits of a running program, refreshed each second. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/monitor/rows.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "core/text/duration.h"
#include "core/text/printable.h"
#include "monitor/capture_of.h"
#include "monitor/threads.h"
#include "render/render.h"
#include "table/top.h"
#include "tui/screen.h"

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
/* The shortest interval; and the longest. */
#define MIN_DELAY  0.1
#define MAX_DELAY  3600.0
#define BATCH_ROWS 20

struct arguments {
	const char *target; /* a process or a directory */
	double delay;	    /* seconds */
	unsigned count;	    /* refreshes; 0: until the program ends */
	unsigned rows;	    /* of each table; 0: as many as fit */
	bool batch;
};

struct monitor {
	const struct arguments *arguments;
	char *dir;
	struct pp_screen screen;
	struct pp_monitor_times before;
	uint64_t own_ns; /* CPU time of the recorder at the last refresh; 0: not known */
	double own_pct;	 /* ... since the one before; negative: not known */
	unsigned n_shown;
};

/* --- options -------------------------------------------------------------------------------- */

static int take_number(const char *name, const char *value, unsigned *ret)
{
	guint64 number;

	if (!g_ascii_string_to_unsigned(value, 10, 1, 1000000, &number, NULL))
		return pp_cli_usage("top", "invalid --%s '%s' (expected a number from 1)", name,
				    value);
	*ret = (unsigned)number;
	return PP_EXIT_GOOD;
}

static int take_delay(const char *value, double *ret)
{
	char *end;

	*ret = g_ascii_strtod(value, &end);
	if (end == value || *end || !(*ret >= MIN_DELAY && *ret <= MAX_DELAY))
		return pp_cli_usage("top", "invalid --delay '%s' (expected %.1f to %.0f seconds)",
				    value, MIN_DELAY, MAX_DELAY);
	return PP_EXIT_GOOD;
}

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;

	switch (option) {
	case 'd':
		return take_delay(value, &arguments->delay);
	case 'n':
		return take_number("count", value, &arguments->count);
	case 'r':
		return take_number("rows", value, &arguments->rows);
	default:
		arguments->batch = true;
		return PP_EXIT_GOOD;
	}
}

static const struct pp_cli_option option_table[] = {
    {"delay", "SECONDS", 'd', "between two refreshes (default 1)"},
    {"count", "N", 'n', "quit after N refreshes"},
    {"rows", "N", 'r', "rows of each table"},
    {"batch", NULL, 'b', "print, without a terminal"},
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "top",
    .letters = ":d:n:r:bh",
    .table = option_table,
    .usage = "top [OPTION...] [PID|DIR]\n\nDIR is the capture (default " PP_DEFAULT_CAPTURE
	     "); q quits.",
    .take = take_option,
};

/* --- one refresh ---------------------------------------------------------------------------- */

/* The CPU time of the program that records, which is the parent of the first process. */
static bool find_own(const struct pp_model *model, uint64_t *ret_ns)
{
	const struct pp_process *first = model->processes->len ? model->processes->pdata[0] : NULL;
	g_autofree char *path = first ? g_strdup_printf("/proc/%u/comm", first->ppid) : NULL;
	g_autofree char *name = NULL;
	GArray *threads;

	if (!path || !g_file_get_contents(path, &name, NULL, NULL) ||
	    strcmp(g_strchomp(name), "gprof-mt") != 0)
		return false;
	threads = pp_running_threads((pid_t)first->ppid);
	*ret_ns = 0;
	for (guint i = 0; threads && i < threads->len; i++)
		*ret_ns += g_array_index(threads, struct pp_running_thread, i).cpu_ns;
	g_clear_pointer(&threads, g_array_unref);
	return *ret_ns > 0;
}

/* span_ns: time since the last refresh. */
static void read_own(struct monitor *monitor, const struct pp_model *model, int64_t span_ns)
{
	uint64_t own_ns = 0;
	bool has_own = find_own(model, &own_ns);

	monitor->own_pct = has_own && monitor->own_ns && own_ns >= monitor->own_ns
			       ? 100 * (double)(own_ns - monitor->own_ns) / (double)span_ns
			       : -1;
	monitor->own_ns = own_ns;
}

static void count_states(const struct pp_table *threads, unsigned *ret_runnable,
			 unsigned *ret_waiting)
{
	*ret_runnable = *ret_waiting = 0;
	for (guint i = 0; i < threads->rows->len; i++) {
		const struct pp_cell *state = pp_table_cell(threads, i, "state");

		if (pp_table_cell(threads, i, "name"))
			++*ret_waiting;
		else if (state && g_str_equal(state->text, "runnable"))
			++*ret_runnable;
	}
}

/* The lines above the tables. */
static char *describe(struct monitor *monitor, const struct pp_snapshot *snapshot,
		      const struct pp_table *threads)
{
	const struct pp_model *model = snapshot->view.capture->model;
	int64_t span_ns = snapshot->until_ns - snapshot->from_ns;
	g_autofree char *age = pp_duration_text(snapshot->until_ns - pp_model_origin(model));
	g_autofree char *span = pp_duration_text(span_ns);
	g_autofree char *size = g_format_size_full(snapshot->bytes, G_FORMAT_SIZE_IEC_UNITS);
	GString *text = g_string_new(NULL);
	unsigned runnable, waiting;

	count_states(threads, &runnable, &waiting);
	g_string_append_printf(text,
			       "%s: %u threads: %u runnable, %u waiting, %u asleep; %s into the "
			       "run, last %s\n",
			       monitor->dir, threads->rows->len, runnable, waiting,
			       threads->rows->len - runnable - waiting, age, span);
	g_string_append_printf(text, "recording: %s of synchronization events so far", size);
	if (monitor->own_pct >= 0)
		g_string_append_printf(text, ", gprof-mt record uses %.1f %% of a CPU",
				       monitor->own_pct);
	g_string_append(text, "\n\n");
	return g_string_free(text, FALSE);
}

static void show_on_screen(struct pp_screen *screen, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	pp_screen_clear(screen);
	for (int i = 0; i < screen->rows && lines[i]; i++)
		pp_screen_put(screen, i, 0, screen->columns, PP_STYLE_PLAIN, false, lines[i]);
	pp_screen_show(screen);
}

static int show(struct monitor *monitor, const struct pp_snapshot *snapshot,
		const struct pp_monitor_times *now)
{
	const struct arguments *arguments = monitor->arguments;
	struct pp_table *tables[] = {pp_monitor_objects(snapshot),
				     pp_monitor_threads(snapshot, &monitor->before, now)};
	struct pp_text_style style = {0};
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *head = describe(monitor, snapshot, tables[1]);
	unsigned rows = arguments->rows;
	int status = PP_EXIT_GOOD;

	if (arguments->batch)
		style = pp_cli_text_style();
	else
		style.width = (unsigned)monitor->screen.columns;
	if (!rows)
		rows =
		    arguments->batch ? BATCH_ROWS : (unsigned)MAX(monitor->screen.rows / 2 - 5, 3);
	style.omits_silently = true;
	g_string_append(text, head);
	for (unsigned i = 0; i < G_N_ELEMENTS(tables); i++) {
		pp_table_keep_top(tables[i], rows);
		pp_render_text(text, tables[i], &style);
		g_string_append_c(text, '\n');
		pp_table_free(tables[i]);
	}
	if (arguments->batch)
		status = pp_cli_print(text);
	else
		show_on_screen(&monitor->screen, text->str);
	monitor->n_shown++;
	return status;
}

/* Returns 0 or -errno; -ESRCH: the program has ended. */
static int refresh(struct monitor *monitor, int *ret_status, struct pp_error *err)
{
	struct pp_monitor_times now = {0};
	struct pp_snapshot snapshot;
	int ret = pp_snapshot_take(&snapshot, monitor->dir, monitor->before.time_ns, err);

	*ret_status = PP_EXIT_GOOD;
	if (ret == 0 && !snapshot.is_live)
		ret = -ESRCH;
	if (ret == 0) {
		pp_monitor_times_read(&now, snapshot.view.capture->model);
		read_own(monitor, snapshot.view.capture->model,
			 now.time_ns - monitor->before.time_ns);
		if (monitor->before.processes)
			*ret_status = show(monitor, &snapshot, &now);
		pp_monitor_times_done(&monitor->before);
		monitor->before = now;
	}
	pp_snapshot_done(&snapshot);
	return ret;
}

/* --- the loop ------------------------------------------------------------------------------- */

/* Waits until the next refresh; false: to quit. */
static bool await(struct monitor *monitor)
{
	int64_t delay_ns = (int64_t)(monitor->arguments->delay * (double)NS_PER_S);
	struct timespec pause = {delay_ns / NS_PER_S, delay_ns % NS_PER_S};
	unsigned key;

	if (monitor->arguments->batch) {
		nanosleep(&pause, NULL);
		return true;
	}
	key = pp_screen_key_within(&monitor->screen, delay_ns / NS_PER_MS);
	return key != 'q' && key != PP_KEY_SIGNAL;
}

static int run(struct monitor *monitor, int *ret_status, struct pp_error *err)
{
	const struct arguments *arguments = monitor->arguments;
	int ret;

	do
		ret = refresh(monitor, ret_status, err);
	while (ret == 0 && *ret_status == PP_EXIT_GOOD &&
	       (!arguments->count || monitor->n_shown < arguments->count) && await(monitor));
	return ret;
}

static int top(const struct arguments *arguments)
{
	struct monitor monitor = {.arguments = arguments};
	struct pp_error err = PP_ERROR_INIT;
	int ret = 0, status = PP_EXIT_GOOD, signal_number;

	monitor.dir = pp_capture_named(arguments->target, &err);
	if (!monitor.dir)
		return pp_cli_fail(&err);
	if (!arguments->batch)
		ret = pp_screen_start(&monitor.screen, &err);
	if (ret == 0)
		ret = run(&monitor, &status, &err);
	signal_number = monitor.screen.signal;
	pp_screen_stop(&monitor.screen);
	if (ret == -ESRCH && !err.causes && !monitor.before.processes)
		pp_error_add(
		    &err, ret,
		    "%s: no program is being recorded into it; see `gprof-mt report -i %s`",
		    monitor.dir, monitor.dir);
	else if (ret == -ESRCH && !err.causes)
		fprintf(stderr,
			"gprof-mt: %s: the program has ended; see `gprof-mt report -i %s`\n",
			monitor.dir, monitor.dir);
	if (err.causes)
		status = pp_cli_fail(&err);
	pp_monitor_times_done(&monitor.before);
	g_free(monitor.dir);
	if (signal_number)
		raise(signal_number);
	return status;
}

int pp_cmd_top(int argc, char **argv)
{
	struct arguments arguments = {.target = PP_DEFAULT_CAPTURE, .delay = 1};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status < 0 && optind + 1 < argc)
		return pp_cli_usage("top", "unexpected argument '%s'", argv[optind + 1]);
	if (status < 0 && optind < argc)
		arguments.target = argv[optind];
	return status < 0 ? top(&arguments) : status;
}
