/* SPDX-License-Identifier: MIT */
/* gprof-mt export: converts a capture to the format of another viewer. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/select.h"
#include "cli/view.h"
#include "export/exporter.h"
#include "calls/survey.h"
#include "events/events.h"

struct arguments {
	const char *dir, *format, *what, *output;
	bool no_threads, no_sources;
	struct pp_selection *selection;
	const struct pp_exporter *exporter; /* the exporter for these options */
};

/* ", calls, time": the figures of exporters from number `first` on.  The caller frees the text. */
static char *figures_of(unsigned first)
{
	GString *figures = g_string_new(NULL);

	for (unsigned i = first;
	     pp_exporters[i] && g_str_equal(pp_exporters[i]->format, pp_exporters[first]->format);
	     i++)
		if (pp_exporters[i]->what)
			g_string_append_printf(figures, "%s%s", figures->len ? ", " : ": ",
					       pp_exporters[i]->what);
	return g_string_free(figures, FALSE);
}

static void print_formats(void)
{
	printf("formats, and the quantities that --what selects:\n");
	for (unsigned i = 0; pp_exporters[i]; i++) {
		g_autofree char *figures = figures_of(i);

		if (pp_exporters[i]->summary)
			printf("  %-10s  %s%s\n", pp_exporters[i]->format, pp_exporters[i]->summary,
			       figures);
	}
}

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	if (pp_cli_select_take("export", arguments->selection, option, value, &status))
		return status;
	switch (option) {
	case 'f':
		arguments->format = value;
		break;
	case 'w':
		arguments->what = value;
		break;
	case 'o':
		arguments->output = value;
		break;
	case 'n':
		arguments->no_threads = true;
		break;
	case 'u':
		arguments->no_sources = true;
		break;
	default:
		arguments->dir = value;
		break;
	}
	return PP_EXIT_GOOD;
}

static const struct pp_cli_option option_table[] = {
    PP_CLI_OPTION_INPUT,
    {"output", "FILE", 'o', "the output file; - is standard output"},
    {"format", "FORMAT", 'f', "see below"},
    {"what", "WHAT", 'w', "the quantity"},
    {"no-threads", NULL, 'n', "no frames of threads"},
    {"no-sources", NULL, 'u', "no source lines"},
    PP_CLI_SELECT_OPTIONS,
    PP_CLI_OPTION_QUIET,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "export",
    .letters = ":i:o:hq",
    .table = option_table,
    .usage = "export --format FORMAT [OPTION...]",
    .print_further = print_formats,
    .take = take_option,
};

static void add_name(GString *to, const char *name)
{
	g_string_append_printf(to, "%s%s", to->len ? ", " : "", name);
}

/* Finds arguments->exporter.  Returns PP_EXIT_GOOD, or the exit status. */
static int find_exporter(struct arguments *arguments)
{
	g_autoptr(GString) formats = g_string_new(NULL), figures = g_string_new(NULL);
	const char *last = "";

	for (unsigned i = 0; pp_exporters[i] && !arguments->exporter; i++) {
		const struct pp_exporter *exporter = pp_exporters[i];

		if (!g_str_equal(last, exporter->format))
			add_name(formats, exporter->format);
		last = exporter->format;
		if (!arguments->format || !g_str_equal(arguments->format, exporter->format))
			continue;
		if (exporter->what)
			add_name(figures, exporter->what);
		if (!arguments->what || g_strcmp0(arguments->what, exporter->what) == 0)
			arguments->exporter = exporter;
	}
	if (arguments->exporter)
		return PP_EXIT_GOOD;
	if (!arguments->format)
		return pp_cli_usage("export", "no --format (expected %s)", formats->str);
	if (figures->len)
		return pp_cli_usage("export", "invalid --what '%s' (expected %s)", arguments->what,
				    figures->str);
	if (arguments->what && strstr(formats->str, arguments->format))
		return pp_cli_usage("export", "--what '%s': %s has one kind of figures only",
				    arguments->what, arguments->format);
	return pp_cli_usage("export", "invalid --format '%s' (expected %s)", arguments->format,
			    formats->str);
}

/* Returns -1 to continue, else the exit status. */
static int check(struct arguments *arguments, int argc, char **argv)
{
	int status;

	if (optind < argc)
		return pp_cli_usage("export", "unexpected argument '%s'", argv[optind]);
	status = find_exporter(arguments);
	if (status != PP_EXIT_GOOD)
		return status;
	if (arguments->no_threads && !arguments->exporter->has_thread_frames)
		return pp_cli_usage("export", "--no-threads: %s has no frames of threads",
				    arguments->format);
	if (arguments->exporter->is_directory && g_strcmp0(arguments->output, PP_OUT_STDOUT) == 0)
		return pp_cli_usage("export",
				    "-o -: this format writes a directory; name one with -o DIR");
	if (arguments->no_sources && !arguments->exporter->has_sources)
		return pp_cli_usage("export", "--no-sources: %s contains no source lines",
				    arguments->format);
	status = pp_cli_select_refuse("export", arguments->selection, arguments->exporter->selects);
	if (!arguments->output)
		arguments->output = arguments->exporter->file_name;
	return status == PP_EXIT_GOOD ? -1 : status;
}

/* -------------------------------------------------------------------------------------------- */

struct run {
	const struct pp_exporter *exporter;
	struct pp_view view;
	struct pp_out out;
	struct pp_export export;
	struct pp_calls_survey *survey;
	void *state;
};

/* The figures of the format that need no call history. */
static char *without_history(const char *format)
{
	GString *figures = g_string_new(NULL);

	for (unsigned i = 0; pp_exporters[i]; i++)
		if (g_str_equal(pp_exporters[i]->format, format) && pp_exporters[i]->what &&
		    !pp_exporters[i]->needs_history)
			add_name(figures, pp_exporters[i]->what);
	return g_string_free(figures, FALSE);
}

static int survey(struct run *run, struct pp_error *err)
{
	struct pp_capture *capture = run->view.capture;

	if (!capture->histories->len) {
		g_autofree char *others = without_history(run->exporter->format);

		return pp_error_add(
		    err, -ENODATA,
		    "%s: no history of calls; record with `--set calls.mode=history` a program "
		    "built with -pg, or use --what %s",
		    capture->model->dir, others);
	}
	run->survey = pp_calls_survey_new(capture, true);
	run->export.survey = run->survey;
	return 0;
}

static void take_event(void *data, const struct pp_event *event)
{
	struct run *run = data;

	pp_pass_set_event(run->view.passes, event);
	if (run->exporter->event && PP_EVENT_MASK(event->kind) & run->exporter->kinds)
		run->exporter->event(run->state, event);
}

static int read_events(struct run *run, struct pp_error *err)
{
	struct pp_view *view = &run->view;
	unsigned kinds = pp_pass_set_kinds(view->passes) | run->exporter->kinds;

	/* Only passes receive calls at the same time. */
	return pp_pass_set_calls_apart(view->passes) && !(run->exporter->kinds & PP_CALL_KINDS)
		   ? pp_view_read_apart(view, kinds, take_event, run, err)
		   : pp_view_read(view, kinds, take_event, run, err);
}

static int sweep(struct run *run, struct pp_error *err)
{
	struct pp_view *view = &run->view;
	static const char *const none[] = {NULL};
	const char *const *needs = run->exporter->needs ?: none;
	/* Stacks contain thread names, which must be the final ones. */
	int ret = pp_view_name_threads(view, err);

	if (ret < 0)
		return ret;
	view->passes = pp_pass_set_new(&view->context, needs, g_strv_length((char **)needs));
	run->export.passes = view->passes;
	run->state = run->exporter->start(&run->export);
	if (!run->exporter->read || !run->exporter->read(run->state, view->capture))
		ret = read_events(run, err);
	if (ret == 0)
		ret = pp_cli_select_check(view, PP_SELECT_THREAD, err);
	if (ret < 0)
		return ret;
	pp_pass_set_finish(view->passes, view->capture->model->end_ns);
	return run->exporter->finish(run->state, view->capture->model->end_ns, err);
}

static int export(struct run *run, const struct arguments *arguments, struct pp_error *err)
{
	int ret = pp_view_open(&run->view, arguments->dir, NULL, err);

	if (ret < 0)
		return ret;
	pp_view_select(&run->view, arguments->selection);
	run->export.capture = run->view.capture;
	if (run->exporter->needs_history ||
	    (run->exporter->may_use_history && run->view.capture->histories->len))
		ret = survey(run, err);
	if (ret == 0 && !run->exporter->is_directory)
		ret = pp_out_open(&run->out, arguments->output, err);
	if (ret == 0)
		ret = sweep(run, err);
	if (ret == 0)
		ret = pp_cli_select_check(&run->view, run->exporter->selects, err);
	return ret < 0 || run->exporter->is_directory ? ret : pp_out_finish(&run->out, err);
}

static int run_export(const struct arguments *arguments)
{
	struct pp_error err = PP_ERROR_INIT;
	struct run run = {.exporter = arguments->exporter};
	int status;

	run.export = (struct pp_export){.exporter = arguments->exporter,
					.context = &run.view.context,
					.out = &run.out,
					.output = arguments->output,
					.no_threads = arguments->no_threads,
					.no_sources = arguments->no_sources,
					.notes = g_ptr_array_new_with_free_func(g_free)};
	if (export(&run, arguments, &err) < 0) {
		status = pp_cli_fail(&err);
	} else {
		pp_cli_progress_stop();
		for (guint i = 0; i < run.export.notes->len; i++)
			fprintf(stderr, "gprof-mt export: %s\n",
				(const char *)run.export.notes->pdata[i]);
		status = pp_view_print_damage(&run.view);
	}
	if (run.state)
		run.exporter->free(run.state);
	pp_out_done(&run.out);
	g_ptr_array_unref(run.export.notes);
	pp_calls_survey_free(run.survey);
	pp_view_done(&run.view);
	return status;
}

int pp_cmd_export(int argc, char **argv)
{
	struct arguments arguments = {.dir = PP_DEFAULT_CAPTURE, .selection = pp_selection_new()};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status < 0)
		status = check(&arguments, argc, argv);
	if (status < 0)
		status = run_export(&arguments);
	pp_selection_free(arguments.selection);
	return status;
}
