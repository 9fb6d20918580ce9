/* SPDX-License-Identifier: MIT */
/*
 * gprof-mt suggest: suggests changes of locks, by the accesses of several recorded runs, and shows
 * what the changed program has gained.
 */
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/suggest/extents.h"
#include "cli/suggest/gain.h"
#include "cli/suggest/page.h"
#include "cli/suggest/proof.h"
#include "cli/suggest/rows.h"
#include "cli/suggest/runs.h"
#include "cli/tables.h"
#include "suggest/rank.h"

#define DEFAULT_PAGE "gprof-mt.html"

struct arguments {
	struct pp_cli_tables how;
	bool is_page;	    /* --format html */
	const char *output; /* of a page, or of CSV; NULL: the default */
	struct pp_suggest_reading reading;
	char **dirs;
	guint n_dirs;
	GPtrArray *against; /* of char *: captures of the changed program */
	char **command;	    /* that program; NULL: none */
};

enum { OPTION_AGAINST = 0x300, OPTION_GAPS, OPTION_RUNS };

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	switch (option) {
	case OPTION_AGAINST:
		g_ptr_array_add(arguments->against, (void *)value);
		return PP_EXIT_GOOD;
	case OPTION_GAPS:
		arguments->reading.allow_gaps = true;
		return PP_EXIT_GOOD;
	case OPTION_RUNS:
		return pp_cli_replay_take_runs("suggest", value, &arguments->reading.n_replays);
	case PP_CLI_TABLES_FORMAT:
		return pp_cli_take_page_format("suggest", value, &arguments->how.format,
					       &arguments->is_page);
	case PP_CLI_TABLES_OUTPUT:
		arguments->output = value;
		return PP_EXIT_GOOD;
	default:
		pp_cli_tables_take("suggest", &arguments->how, option, value, &status);
		return status;
	}
}

static const struct pp_cli_option option_table[] = {
    {"against", "DIR", OPTION_AGAINST, "compare with a run of the changed program (repeatable)"},
    {"allow-gaps", NULL, OPTION_GAPS, "use what is known of incomplete captures"},
    {"runs", "N", OPTION_RUNS, "replays for each prediction (default 10)"},
    {"top", "N", PP_CLI_TABLES_TOP, "the N suggestions with the largest gain"},
    {"format", "FORMAT", PP_CLI_TABLES_FORMAT, "text (default), json, csv, or html: a page"},
    {"table", "TABLE", PP_CLI_TABLES_TABLE, "csv: this table only"},
    {"output", "PATH", PP_CLI_TABLES_OUTPUT, "html: the file; csv: all, to PATH/*.csv"},
    PP_CLI_OPTION_WIDE,
    PP_CLI_OPTION_QUIET,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "suggest",
    .letters = ":hq",
    .table = option_table,
    .usage = "suggest [OPTION...] DIR... [-- CHANGED-COMMAND]",
    .take = take_option,
};

/* --- results ---------------------------------------------------------------------------------- */

struct results {
	struct pp_suggest_runs before, after;
	/* of struct pp_suggestion *: all, those that are worth it, and the first of these; NULL:
	 * none are known */
	GPtrArray *found, *ranked, *shown;
	GPtrArray *tables; /* of struct pp_table * */
};

static int read_runs(const struct arguments *arguments, struct results *results,
		     struct pp_error *err)
{
	struct pp_suggest_reading how = arguments->reading;
	struct pp_cli_program_runs program = {0};
	int rc;

	how.wants_waits = arguments->against->len > 0;
	rc = pp_suggest_runs_read(&results->before, arguments->dirs, arguments->n_dirs, &how,
				  &program, err);
	how.may_lack_accesses = true;
	pp_cli_program_runs_next(&program);
	if (rc == 0)
		rc = pp_suggest_runs_read(&results->after, (char *const *)arguments->against->pdata,
					  arguments->against->len, &how, &program, err);
	pp_cli_program_runs_done(&program);
	if (rc == 0)
		rc = pp_suggest_extents(&results->before, err);
	if (rc == 0 && arguments->against->len)
		rc = pp_suggest_extents(&results->after, err);
	return rc;
}

static GPtrArray *first_of(const GPtrArray *ranked, const struct pp_cli_tables *how)
{
	guint n = how->has_top && how->top ? MIN(how->top, ranked->len) : ranked->len;
	GPtrArray *first = g_ptr_array_new();

	for (guint i = 0; i < n; i++)
		g_ptr_array_add(first, ranked->pdata[i]);
	return first;
}

/* Adds the tables of what has changed. */
static int prove(const struct arguments *arguments, struct results *results, struct pp_error *err)
{
	const struct pp_suggest_proof proof = {
	    .before = &results->before,
	    .ranked = results->ranked,
	    .after = arguments->against->len ? &results->after : NULL,
	    .command = arguments->command,
	};

	return proof.after || proof.command ? pp_suggest_proof_tables(&proof, results->tables, err)
					    : 0;
}

static int make_tables(const struct arguments *arguments, struct results *results,
		       struct pp_error *err)
{
	unsigned n_idle;
	int rc;

	results->found = pp_suggest_find(&results->before.facts);
	rc = pp_suggest_gains(&results->before, results->found, err);
	if (rc)
		return rc;
	results->ranked = pp_suggest_rank(results->found, &n_idle);
	results->shown = first_of(results->ranked, &arguments->how);
	g_ptr_array_add(results->tables, pp_suggest_rows(&results->before, results->shown, n_idle));
	return prove(arguments, results, err);
}

static int print(const struct arguments *arguments, const struct results *results)
{
	struct pp_error err = PP_ERROR_INIT;

	if (!arguments->is_page)
		return pp_cli_tables_print(&arguments->how,
					   (struct pp_table *const *)results->tables->pdata,
					   results->tables->len);
	return pp_suggest_page_write(arguments->output ?: DEFAULT_PAGE, &results->before,
				     arguments->against->len ? &results->after : NULL,
				     results->shown, results->tables, &err)
		   ? pp_cli_fail(&err)
		   : PP_EXIT_GOOD;
}

static int suggest(const struct arguments *arguments)
{
	struct results results = {
	    .tables = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free)};
	struct pp_error err = PP_ERROR_INIT;
	int status, rc = read_runs(arguments, &results, &err);

	if (rc == 0)
		rc = make_tables(arguments, &results, &err);
	status = rc ? pp_cli_fail(&err) : print(arguments, &results);
	status = MAX(status, MAX(results.before.status, results.after.status));
	g_ptr_array_unref(results.tables);
	g_clear_pointer(&results.shown, g_ptr_array_unref);
	g_clear_pointer(&results.ranked, g_ptr_array_unref);
	g_clear_pointer(&results.found, g_ptr_array_unref);
	pp_suggest_runs_done(&results.before);
	pp_suggest_runs_done(&results.after);
	return status;
}

/* --- the command line ------------------------------------------------------------------------- */

static int read_arguments(struct arguments *arguments, int argc, char **argv)
{
	int n_behind = pp_cli_count_behind(argc, argv);
	int status = pp_cli_options_read(&options, argc, argv, arguments);

	if (status >= 0)
		return status;
	if (!arguments->is_page)
		arguments->how.dir = arguments->output;
	arguments->dirs = argv + optind;
	arguments->n_dirs = (guint)(argc - n_behind - optind);
	if (n_behind)
		arguments->command = argv + argc - n_behind;
	if (!arguments->n_dirs)
		return pp_cli_usage("suggest", "expected the directories of captures");
	status = pp_cli_tables_check("suggest", &arguments->how, 1);
	return status == PP_EXIT_GOOD ? -1 : status;
}

int pp_cmd_suggest(int argc, char **argv)
{
	struct arguments arguments = {.reading.n_replays = PP_CLI_REPLAY_RUNS,
				      .against = g_ptr_array_new()};
	int status = read_arguments(&arguments, argc, argv);

	if (status < 0)
		status = suggest(&arguments);
	g_ptr_array_unref(arguments.against);
	return status;
}
