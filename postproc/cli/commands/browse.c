/* SPDX-License-Identifier: MIT */
/* gprof-mt browse: shows a capture in the terminal. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "analysis/unrecorded.h"
#include "cli/browse_index.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/view.h"
#include "tui/browse.h"

struct arguments {
	const char *dir;
};

static int take_option(void *data, int option, const char *value)
{
	(void)option;
	((struct arguments *)data)->dir = value;
	return PP_EXIT_GOOD;
}

static const struct pp_cli_option option_table[] = {
    PP_CLI_OPTION_INPUT,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "browse",
    .letters = ":i:h",
    .table = option_table,
    .usage = "browse [OPTION...]\n\nh shows the keys; q quits.",
    .take = take_option,
};

/* --- command -------------------------------------------------------------------------------- */

/*
 * Notes about the capture that the browser shows first; NULL if there are none.  Takes ownership of
 * the note.
 */
static char *first_words(char *note, const struct pp_index *index, const struct pp_capture *capture)
{
	bool is_full;
	g_autofree char *mode = NULL;

	if (note)
		return note;
	if (capture->damage->len)
		return g_strdup_printf("damaged: %s", (const char *)capture->damage->pdata[0]);
	mode = pp_unrecorded_mode(capture->model, &is_full);
	if (mode && !is_full)
		return g_strdup_printf("synchronization is recorded: %s", mode);
	return index->n_events ? NULL : g_strdup("no event was recorded");
}

/* Returns 0 if the user quits before everything is read. */
static int browse_view(struct pp_screen *screen, struct pp_view *view, struct pp_error *err)
{
	struct pp_index *index = NULL;
	g_autofree char *note = NULL;
	int ret = pp_browse_index(screen, view, &index, &note, err);

	if (ret == 0) {
		note = first_words(note, index, view->capture);
		pp_browse(screen, index, &view->namer, view->capture->model->dir,
			  view->capture->damage->len > 0, note);
	}
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
	pp_cli_progress_stop(); /* the screen shows it from here on */
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
	/* The parent process sees the signal that ended the browser. */
	if (signal_number)
		raise(signal_number);
	return status;
}

int pp_cmd_browse(int argc, char **argv)
{
	struct arguments arguments = {.dir = PP_DEFAULT_CAPTURE};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status < 0 && optind < argc)
		return pp_cli_usage("browse", "unexpected argument '%s'", argv[optind]);
	return status < 0 ? browse(&arguments) : status;
}
