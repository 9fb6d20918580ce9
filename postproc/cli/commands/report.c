/* SPDX-License-Identifier: MIT */
/* gprof-mt report: tables of a capture, as text, JSON or CSV. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/sections.h"
#include "cli/select.h"
#include "cli/tables.h"
#include "cli/view.h"

struct arguments {
	const char *dir;
	struct pp_cli_tables how;
	struct pp_selection *selection;
	GPtrArray *names;
};

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	if (!pp_cli_select_take("report", arguments->selection, option, value, &status) &&
	    !pp_cli_tables_take("report", &arguments->how, option, value, &status))
		arguments->dir = value;
	return status;
}

static const struct pp_cli_option option_table[] = {
    PP_CLI_OPTION_INPUT, PP_CLI_TABLES_OPTIONS,	 PP_CLI_SELECT_OPTIONS,
    PP_CLI_OPTION_QUIET, PP_CLI_OPTIONS_SYMBOLS, {0},
};

static const struct pp_cli_options options = {
    .command = "report",
    .letters = ":i:hq",
    .table = option_table,
    .usage = "report [OPTION...] [SECTION...]",
    .print_further = pp_cli_sections_help,
    .take = take_option,
};

static int print_tables(const struct pp_view *view, const struct arguments *arguments)
{
	g_autoptr(GPtrArray) tables = pp_cli_sections_tables(view, arguments->names);

	return pp_cli_tables_print(&arguments->how, (struct pp_table *const *)tables->pdata,
				   tables->len);
}

static int report(struct arguments *arguments)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_view view;
	int ret, status, damage_status;

	ret = pp_view_open(&view, arguments->dir, NULL, &err);
	if (ret == 0) {
		pp_view_select(&view, arguments->selection);
		view.context.for_text = arguments->how.format == PP_CLI_TEXT;
		ret = pp_view_run(&view, (const char *const *)arguments->names->pdata,
				  arguments->names->len, &err);
	}
	if (ret == 0)
		ret = pp_cli_select_check(&view, pp_cli_sections_heed(arguments->names), &err);
	if (ret < 0) {
		status = pp_cli_fail(&err);
	} else {
		status = print_tables(&view, arguments);
		damage_status = pp_view_print_damage(&view);
		status = MAX(status, damage_status);
	}
	pp_view_done(&view);
	return status;
}

int pp_cmd_report(int argc, char **argv)
{
	struct arguments arguments = {
	    .dir = PP_DEFAULT_CAPTURE,
	    .selection = pp_selection_new(),
	    .names = g_ptr_array_new(),
	};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status < 0) {
		status =
		    pp_cli_sections_take("report", arguments.names, argv + optind, argc - optind);
		if (status == PP_EXIT_GOOD)
			status =
			    pp_cli_tables_check("report", &arguments.how, arguments.names->len);
		if (status == PP_EXIT_GOOD)
			status = report(&arguments);
	}
	pp_selection_free(arguments.selection);
	g_ptr_array_unref(arguments.names);
	return status;
}
