/* SPDX-License-Identifier: MIT */
/*
 * gprof-mt timeline: prints all events of one thread in time order.
 *
 * It prints while it reads, since the result may not fit into memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/history_calls.h"
#include "cli/select.h"
#include "cli/tables.h"
#include "cli/terminal.h"
#include "cli/view.h"
#include "core/text/duration.h"
#include "core/text/printable.h"
#include "events/events.h"
#include "pass/replay.h"
#include "analysis/thread_cells.h"
#include "pass/timeline/timeline.h"
#include "render/fit.h"
#include "render/render.h"

#define BATCH_BYTES 65536
#define MAX_INDENT  100

/* Characters before the description; parts of them that a narrow terminal leaves out. */
#define HEAD_WIDTH     41
#define CPU_WIDTH      5
#define DURATION_WIDTH 10
#define READABLE       30
#define NOTE_INDENT    8

struct arguments {
	const char *dir;
	enum pp_cli_format format;
	struct pp_selection *selection;
};

struct printer {
	const struct pp_view *view;
	const struct arguments *arguments;
	const struct pp_thread *thread; /* of the last line */
	GString *text;
	int64_t start_ns;
	bool has_returns; /* the thread's returns are recorded */
	int status;
	struct pp_timeline *timeline;
	uint32_t tid;	     /* of the selected thread */
	unsigned line_width; /* of the terminal; 0: nothing is cut */
	unsigned width;	     /* of the description */
	bool no_cpu, no_duration;
};

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	if (pp_cli_select_take("timeline", arguments->selection, option, value, &status))
		return status;
	switch (option) {
	case 'f':
		return pp_cli_take_format("timeline", value, &arguments->format);
	default:
		arguments->dir = value;
		return PP_EXIT_GOOD;
	}
}

static const struct pp_cli_option option_table[] = {
    PP_CLI_OPTION_INPUT,
    {"tid", "T", PP_CLI_SELECT_TID, "the thread"},
    {"thread", "PATTERN", PP_CLI_SELECT_THREAD, "by its name"},
    PP_CLI_SELECT_TIMES,
    PP_CLI_SELECT_NO_OPERATIONS,
    PP_CLI_OPTION_FORMAT('f'),
    PP_CLI_OPTION_WIDE,
    PP_CLI_OPTION_QUIET,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "timeline",
    .letters = ":i:hq",
    .table = option_table,
    .usage = "timeline --tid T | --thread NAME [OPTION...]\n\n"
	     "Prints all events of one thread in order of time: calls, synchronization and "
	     "the\nkernel's events; why it left its CPU, and which thread woke it.",
    .take = take_option,
};

/* --- printing ------------------------------------------------------------------------------- */

/* The header, for an empty table. */
static void append_csv_head(GString *text)
{
	struct pp_table *table = pp_timeline_table();

	pp_render_csv_head(text, table);
	pp_table_free(table);
}

/* Appends a row in JSON or CSV. */
static void append_row(struct printer *printer, const struct pp_timeline_line *line)
{
	struct pp_table *table = pp_timeline_table();

	pp_timeline_add_row(table, line);
	pp_cli_append_row(printer->text, printer->arguments->format, table, !printer->thread);
	pp_table_free(table);
}

/* Fits lines to a terminal: the description is cut, and has at least READABLE characters. */
static void fit(struct printer *printer)
{
	unsigned width = pp_cli_text_style().width, head = HEAD_WIDTH;

	printer->line_width = width;
	if (!width)
		return;
	if (width < head + READABLE) {
		printer->no_cpu = true;
		head -= CPU_WIDTH;
	}
	if (width < head + READABLE) {
		printer->no_duration = true;
		head -= DURATION_WIDTH;
	}
	printer->width = MAX(width, head + 9) - head;
}

/* Takes ownership of the text. */
static void append_prose(struct printer *printer, char *text)
{
	pp_fit_wrap(printer->text, text, printer->line_width, NOTE_INDENT);
	g_string_append_c(printer->text, '\n');
	g_free(text);
}

static void append_line(struct printer *printer, const char *time, const char *cpu,
			const char *event, const char *duration, char *description)
{
	g_autofree char *shown =
	    printer->width ? pp_fit_cut(description, printer->width, true) : description;

	g_string_append_printf(printer->text, "%14s", time);
	if (!printer->no_cpu)
		g_string_append_printf(printer->text, "  %3s", cpu);
	g_string_append_printf(printer->text, "  %-8s", event);
	if (!printer->no_duration)
		g_string_append_printf(printer->text, " %9s", duration);
	g_string_append_printf(printer->text, "  %s\n", shown);
}

static void append_heading(struct printer *printer, const struct pp_thread *thread)
{
	g_autofree char *title = pp_thread_title(thread);

	g_string_append(printer->text, printer->thread ? "\n" : "");
	append_prose(printer, g_strdup_printf("Timeline of %s", title));
	if (printer->no_cpu)
		append_prose(printer, g_strdup_printf("  left out: CPU%s; --wide shows all columns",
						      printer->no_duration ? ", duration" : ""));
	g_string_append_c(printer->text, '\n');
	append_line(printer, "time (ms)", "CPU", "event", "duration", g_strdup("description"));
}

static void append_text(struct printer *printer, const struct pp_timeline_line *line)
{
	int64_t since_ns = line->time_ns - printer->start_ns;
	bool has_duration = line->kind != PP_TIMELINE_ON && line->duration_ns >= 0;
	g_autofree char *duration = has_duration ? pp_duration_text(line->duration_ns)
				    : line->kind == PP_TIMELINE_WOKEN && line->blocked_ns >= 0
					? pp_duration_text(line->blocked_ns)
					: g_strdup("");
	unsigned most = printer->width ? MIN(printer->width / 2, MAX_INDENT) : MAX_INDENT;
	g_autofree char *time =
	    g_strdup_printf("%7" PRId64 ".%06" PRId64, since_ns / 1000000, since_ns % 1000000);
	g_autofree char *cpu = line->cpu >= 0 ? g_strdup_printf("%d", line->cpu) : g_strdup("-");
	g_autofree char *description = pp_printable(g_strdup(line->text));

	if (line->thread != printer->thread)
		append_heading(printer, line->thread);
	append_line(printer, time, cpu, pp_timeline_kind_name(line->kind), duration,
		    g_strdup_printf("%*s%s", (int)MIN(2 * line->depth, most), "", description));
}

static void take_line(void *data, const struct pp_timeline_line *line)
{
	struct printer *printer = data;

	if (printer->arguments->format == PP_CLI_TEXT)
		append_text(printer, line);
	else
		append_row(printer, line);
	printer->thread = line->thread;
	pp_cli_print_batch(printer->text, BATCH_BYTES, &printer->status);
}

/* --- notes on missing data ------------------------------------------------------------------ */

static void append_notes(struct printer *printer)
{
	const struct pp_pass_context *context = &printer->view->context;
	uint64_t n_own_calls = pp_timeline_n_own_calls(printer->timeline);
	g_autofree char *own_calls = g_strdup_printf(
	    "left out: %" PRIu64 " system calls of gprof-mt's own libraries", n_own_calls);
	g_autoptr(GPtrArray) notes = g_ptr_array_new();

	if (!context->has_kernel)
		g_ptr_array_add(notes, "no scheduling events in this capture: when the thread ran, "
				       "and why it left its CPU, is unknown");
	else if (!context->has_wakings)
		g_ptr_array_add(notes, "the source of scheduling events records neither the waker "
				       "nor the next thread");
	if (context->has_kernel && !pp_timeline_saw_syscalls(printer->timeline))
		g_ptr_array_add(notes,
				"no system calls in this capture, so it is unknown why the thread "
				"slept outside synchronization: record --profile full");
	if (n_own_calls)
		g_ptr_array_add(notes, own_calls);
	for (guint i = 0; i < notes->len; i++) {
		const char *note = notes->pdata[i];

		switch (printer->arguments->format) {
		case PP_CLI_TEXT:
			g_string_append(printer->text, i ? "" : "\n");
			append_prose(printer, g_strdup_printf("  note: %s", note));
			break;
		case PP_CLI_JSON:
			g_string_append_printf(printer->text, "%s\n  \"%s\"", i ? "," : "", note);
			break;
		case PP_CLI_CSV:
			fprintf(stderr, "gprof-mt: timeline: %s\n", note);
			break;
		}
	}
}

/* -------------------------------------------------------------------------------------------- */

static void begin(struct printer *printer)
{
	struct pp_timeline_options wanted = {
	    .tid = printer->tid,
	    .has_returns = printer->has_returns,
	    .take = take_line,
	    .data = printer,
	};

	printer->start_ns = printer->view->capture->model->start_ns;
	printer->timeline = pp_timeline_new(&printer->view->context, &wanted);
}

/* The capture starts with the first event. */
static void take_event(void *data, const struct pp_event *event)
{
	struct printer *printer = data;

	if (!printer->timeline)
		begin(printer);
	pp_timeline_event(printer->timeline, event);
}

static int read_events(struct printer *printer, struct pp_error *err)
{
	const struct pp_model *model = printer->view->capture->model;
	int ret;

	printer->has_returns = pp_cli_has_returns(printer->view, printer->tid);
	ret = pp_events_read(printer->view->capture, PP_TIMELINE_KINDS, take_event, printer, err);
	if (ret < 0)
		return ret;
	ret = pp_cli_select_check(printer->view, PP_SELECT_THREAD, err);
	if (ret < 0)
		return ret;
	if (!printer->timeline)
		begin(printer);
	pp_timeline_finish(printer->timeline, model->end_ns);
	return 0;
}

static int print_all(struct printer *printer, struct pp_error *err)
{
	enum pp_cli_format format = printer->arguments->format;
	bool json = format == PP_CLI_JSON;
	int ret;

	if (json)
		g_string_append(printer->text, "{\n \"schema\": 1,\n \"timeline\": [");
	ret = read_events(printer, err);
	if (ret < 0)
		return ret;
	if (!printer->thread && format == PP_CLI_TEXT)
		g_string_append_printf(
		    printer->text, "no events of thread %" PRIu32 " in that time\n", printer->tid);
	if (!printer->thread && format == PP_CLI_CSV)
		append_csv_head(printer->text);
	g_string_append(printer->text, json ? "\n ],\n \"notes\": [" : "");
	append_notes(printer);
	g_string_append(printer->text, json ? "\n ]\n}\n" : "");
	pp_cli_print_batch(printer->text, 0, &printer->status);
	return 0;
}

static int timeline(const struct arguments *arguments)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_view view;
	struct printer printer = {
	    .view = &view,
	    .arguments = arguments,
	    .text = g_string_new(NULL),
	    .status = PP_EXIT_GOOD,
	};
	int ret = pp_view_open(&view, arguments->dir, NULL, &err), damaged;

	if (ret == 0)
		ret = pp_view_select_one(&view, arguments->selection, &printer.tid, &err);
	fit(&printer);
	if (ret == 0)
		ret = print_all(&printer, &err);
	if (ret < 0) {
		printer.status = pp_cli_fail(&err);
	} else {
		damaged = pp_view_print_damage(&view);
		printer.status = MAX(printer.status, damaged);
	}
	pp_timeline_free(printer.timeline);
	g_string_free(printer.text, TRUE);
	pp_view_done(&view);
	return printer.status;
}

static int run(struct arguments *arguments)
{
	int status = pp_cli_select_one("timeline", arguments->dir, arguments->selection);

	if (status == PP_EXIT_GOOD)
		status = pp_cli_select_refuse("timeline", arguments->selection,
					      PP_SELECT_THREAD | PP_SELECT_TIME);
	return status == PP_EXIT_GOOD ? timeline(arguments) : status;
}

int pp_cmd_timeline(int argc, char **argv)
{
	struct arguments arguments = {.dir = PP_DEFAULT_CAPTURE, .selection = pp_selection_new()};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status < 0 && optind < argc)
		status = pp_cli_usage("timeline", "unexpected argument '%s'", argv[optind]);
	if (status < 0)
		status = run(&arguments);
	pp_selection_free(arguments.selection);
	return status;
}
