/* SPDX-License-Identifier: MIT */
/*
 * gprof-mt history: prints the operations on synchronization objects, in order of time or object by
 * object, or the calls of a thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/history.h"
#include "cli/options.h"
#include "cli/history_calls.h"
#include "cli/select.h"
#include "cli/view.h"

/* BY_FORMAT: text by time, the others by object. */
enum order { BY_FORMAT, BY_TIME, BY_OBJECT };

struct arguments {
	const char *dir;
	enum pp_cli_format format;
	enum order order;
	bool calls;
	struct pp_selection *selection;
};

static int take_order(const char *value, enum order *ret_order)
{
	if (strcmp(value, "time") == 0)
		*ret_order = BY_TIME;
	else if (strcmp(value, "object") == 0)
		*ret_order = BY_OBJECT;
	else
		return pp_cli_usage("history", "invalid --order '%s' (expected time or object)",
				    value);
	return PP_EXIT_GOOD;
}

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	if (pp_cli_select_take("history", arguments->selection, option, value, &status))
		return status;
	switch (option) {
	case 'f':
		return pp_cli_take_format("history", value, &arguments->format);
	case 'o':
		return take_order(value, &arguments->order);
	case 'c':
		arguments->calls = true;
		return PP_EXIT_GOOD;
	default:
		arguments->dir = value;
		return PP_EXIT_GOOD;
	}
}

static const struct pp_cli_option option_table[] = {
    PP_CLI_OPTION_INPUT,
    {"order", "ORDER", 'o', "time (default in text) or object (default in others)"},
    {"calls", NULL, 'c', "print the calls of one thread, as they nested"},
    PP_CLI_OPTION_FORMAT('f'),
    PP_CLI_OPTION_WIDE,
    PP_CLI_SELECT_OPTIONS,
    PP_CLI_OPTION_QUIET,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "history",
    .letters = ":i:hq",
    .table = option_table,
    .usage = "history [OPTION...]\n"
	     "       gprof-mt history --calls --tid T | --thread NAME [OPTION...]",
    .take = take_option,
};

/* Checks that the options can be combined. */
static int check(const struct arguments *arguments)
{
	int status;

	if (!arguments->calls)
		return PP_EXIT_GOOD;
	if (arguments->order != BY_FORMAT)
		return pp_cli_usage("history", "--calls, --order: exclude each other");
	status = pp_cli_select_one("history --calls", arguments->dir, arguments->selection);
	if (status != PP_EXIT_GOOD)
		return status;
	return pp_cli_select_refuse("history --calls", arguments->selection,
				    PP_SELECT_THREAD | PP_SELECT_TIME | PP_SELECT_FUNCTION);
}

/* -------------------------------------------------------------------------------------------- */

static int history(const struct arguments *arguments)
{
	static int (*const print[])(struct pp_view *, enum pp_cli_format, int *,
				    struct pp_error *) = {
	    [BY_TIME] = pp_cli_history_by_time,
	    [BY_OBJECT] = pp_cli_history_by_object,
	};
	enum order by_default = arguments->format == PP_CLI_TEXT ? BY_TIME : BY_OBJECT;
	enum order order = arguments->order == BY_FORMAT ? by_default : arguments->order;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_view view;
	int status = PP_EXIT_GOOD, damaged;
	int ret = pp_view_open(&view, arguments->dir, NULL, &err);

	if (ret == 0) {
		pp_view_select(&view, arguments->selection);
		ret = print[order](&view, arguments->format, &status, &err);
	}
	if (ret < 0) {
		status = pp_cli_fail(&err);
	} else {
		damaged = pp_view_print_damage(&view);
		status = MAX(status, damaged);
	}
	pp_view_done(&view);
	return status;
}

static int run(const struct arguments *arguments)
{
	int status = check(arguments);

	if (status != PP_EXIT_GOOD)
		return status;
	return arguments->calls
		   ? pp_cli_history_calls(arguments->dir, arguments->selection, arguments->format)
		   : history(arguments);
}

int pp_cmd_history(int argc, char **argv)
{
	struct arguments arguments = {.dir = PP_DEFAULT_CAPTURE, .selection = pp_selection_new()};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status < 0 && optind < argc)
		status = pp_cli_usage("history", "unexpected argument '%s'", argv[optind]);
	if (status < 0)
		status = run(&arguments);
	pp_selection_free(arguments.selection);
	return status;
}
