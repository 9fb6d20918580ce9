/* SPDX-License-Identifier: MIT */
/* gprof-mt browse: a capture, looked through in the terminal. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/view.h"
#include "index/build.h"
#include "input/events.h"
#include "tui/browse.h"

struct arguments {
	const char *dir;
};

static void print_help(void)
{
	printf("usage: gprof-mt browse [OPTION...]\n\n"
	       "  -i, --input DIR    the capture (default %s)\n" PP_CLI_HELP_SYMBOLS
	       "\nIn it, h shows the keys, and q ends it.\n",
	       PP_DEFAULT_CAPTURE);
}

static int take_option(void *data, int option, const char *value)
{
	(void)option;
	((struct arguments *)data)->dir = value;
	return PP_EXIT_GOOD;
}

static const struct option option_table[] = {
    {"input", required_argument, NULL, 'i'},
    PP_CLI_OPTIONS_SYMBOLS,
    PP_CLI_OPTIONS_END,
};

static const struct pp_cli_options options = {"browse", ":i:h", option_table, print_help,
					      take_option};

/* --- the index ------------------------------------------------------------------------------ */

#define PICTURE_NS 100000000 /* between two pictures of the progress */

struct reading {
	struct pp_screen *screen;
	const struct pp_view *view;
	struct pp_index_builder *builder;
	int64_t shown_ns; /* CLOCK_MONOTONIC; 0: not yet */
};

static void take_event(void *data, const struct pp_event *event)
{
	pp_index_builder_event(((struct reading *)data)->builder, event);
}

static double share_read(const struct pp_model *model, int64_t now_ns)
{
	double span = (double)model->end_ns - (double)model->start_ns;

	if (model->start_ns == PP_TIME_UNKNOWN || span <= 0)
		return -1;
	return CLAMP(((double)now_ns - (double)model->start_ns) / span, 0, 1);
}

static bool go_on(void *data)
{
	struct reading *reading = data;
	const struct pp_model *model = reading->view->capture->model;
	struct timespec now;
	int64_t now_ns, last_ns;
	uint64_t n;

	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	if (now_ns - reading->shown_ns < PICTURE_NS)
		return true;
	reading->shown_ns = now_ns;
	n = pp_index_builder_events(reading->builder, &last_ns);
	return pp_browse_progress(reading->screen, model->dir, share_read(model, last_ns), n);
}

static int make_index(struct pp_screen *screen, struct pp_view *view, struct pp_index **ret,
		      struct pp_error *err)
{
	struct pp_model *model = view->capture->model;
	struct reading reading = {
	    .screen = screen,
	    .view = view,
	    .builder = pp_index_builder_new(&view->context, model, NULL),
	};
	int rc =
	    pp_events_read_while(view->capture, PP_INDEX_KINDS, take_event, go_on, &reading, err);

	if (rc == 0)
		*ret = pp_index_builder_finish(reading.builder);
	pp_index_builder_free(reading.builder);
	return rc;
}

/* --- the command ---------------------------------------------------------------------------- */

/* Quitting before all is read is no error. */
static int browse_view(struct pp_screen *screen, struct pp_view *view, struct pp_error *err)
{
	struct pp_index *index = NULL;
	int ret = make_index(screen, view, &index, err);

	if (ret == 0)
		pp_browse(screen, index, &view->namer, view->capture->model->dir,
			  view->capture->damage->len > 0);
	pp_index_free(index);
	return ret;
}

static int browse(const struct arguments *arguments)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_screen screen = {.terminal = NULL};
	struct pp_view view;
	int ret, status, signal_number;

	ret = pp_view_open(&view, arguments->dir, NULL, &err);
	if (ret == 0)
		ret = pp_screen_start(&screen, &err);
	if (ret == 0)
		ret = browse_view(&screen, &view, &err);
	signal_number = screen.signal;
	pp_screen_stop(&screen);
	if (ret == -ECANCELED) {
		pp_error_done(&err);
		status = PP_EXIT_GOOD;
	} else {
		status = ret < 0 ? pp_cli_fail(&err) : pp_view_print_damage(&view);
	}
	pp_view_done(&view);
	/* Whoever started it sees what ended it. */
	if (signal_number)
		raise(signal_number);
	return status;
}

int pp_cmd_browse(int argc, char **argv)
{
	struct arguments arguments = {.dir = PP_DEFAULT_CAPTURE};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status < 0 && optind < argc)
		return pp_cli_usage("browse", "'%s': it takes options only", argv[optind]);
	return status < 0 ? browse(&arguments) : status;
}
