/* SPDX-License-Identifier: MIT */
/* gprof-mt suggest: suggests changes of locks, by the accesses of several recorded runs. */
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/suggest/gain.h"
#include "cli/suggest/rows.h"
#include "cli/suggest/runs.h"
#include "cli/tables.h"
#include "table/top.h"

struct arguments {
	struct pp_cli_tables how;
	uint32_t n_replays;
	char **dirs;
	guint n_dirs;
};

enum { OPTION_RUNS = 0x300 };

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	if (option == OPTION_RUNS)
		return pp_cli_replay_take_runs("suggest", value, &arguments->n_replays);
	pp_cli_tables_take("suggest", &arguments->how, option, value, &status);
	return status;
}

static const struct pp_cli_option option_table[] = {
    {"runs", "N", OPTION_RUNS, "replays for each prediction (default 10)"},
    {"top", "N", PP_CLI_TABLES_TOP, "the N suggestions with the largest gain"},
    PP_CLI_TABLES_OPTIONS,
    PP_CLI_OPTION_QUIET,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "suggest",
    .letters = ":hq",
    .table = option_table,
    .usage = "suggest [OPTION...] DIR...",
    .take = take_option,
};

static int print_suggestions(const struct arguments *arguments, const struct pp_suggest_runs *runs,
			     const GPtrArray *suggestions)
{
	struct pp_table *table = pp_suggest_rows(runs, suggestions);
	int status;

	if (arguments->how.has_top && arguments->how.top)
		pp_table_keep_top(table, arguments->how.top);
	status = pp_cli_tables_print(&arguments->how, &table, 1);
	pp_table_free(table);
	return status;
}

static int suggest(const struct arguments *arguments)
{
	struct pp_suggest_runs runs;
	struct pp_error err = PP_ERROR_INIT;
	g_autoptr(GPtrArray) suggestions = NULL;
	int status, rc = pp_suggest_runs_read(&runs, arguments->dirs, arguments->n_dirs,
					      arguments->n_replays, &err);

	if (rc == 0) {
		suggestions = pp_suggest_find(&runs.facts);
		rc = pp_suggest_gain(&runs, suggestions, &err);
	}
	status = rc ? pp_cli_fail(&err) : print_suggestions(arguments, &runs, suggestions);
	status = MAX(status, runs.status);
	g_clear_pointer(&suggestions, g_ptr_array_unref);
	pp_suggest_runs_done(&runs);
	return status;
}

int pp_cmd_suggest(int argc, char **argv)
{
	struct arguments arguments = {.n_replays = PP_CLI_REPLAY_RUNS};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status >= 0)
		return status;
	arguments.dirs = argv + optind;
	arguments.n_dirs = (guint)(argc - optind);
	if (!arguments.n_dirs)
		return pp_cli_usage("suggest", "expected the directories of captures");
	status = pp_cli_tables_check("suggest", &arguments.how, 1);
	return status == PP_EXIT_GOOD ? suggest(&arguments) : status;
}
