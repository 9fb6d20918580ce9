/* SPDX-License-Identifier: MIT */
/* gprof-mt bottlenecks: ranks critical sections over the captures of several runs of a program. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/campaign/page.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/ranking.h"
#include "cli/tables.h"
#include "table/top.h"

#define DEFAULT_PAGE "gprof-mt.html"

struct arguments {
	struct pp_cli_tables how;
	bool is_page;	    /* --format html */
	const char *output; /* of a page, or of CSV; NULL: the default */
	const char *clock;
	enum pp_bottleneck_metric metric;
	uint64_t n_warmup;
	char **dirs;
	guint n_dirs;
};

/* --- options -------------------------------------------------------------------------------- */

enum { OPTION_METRIC = 0x300, OPTION_CLOCK, OPTION_WARMUP };

static int take_option(void *data, int option, const char *value)
{
	static const char *const clocks[] = {"wall", "running", "conditionals", NULL};
	struct arguments *arguments = data;
	int status;

	switch (option) {
	case PP_CLI_TABLES_FORMAT:
		return pp_cli_take_page_format("bottlenecks", value, &arguments->how.format,
					       &arguments->is_page);
	case 'o':
		arguments->output = value;
		return PP_EXIT_GOOD;
	case OPTION_METRIC:
		return pp_ranking_take_metric("bottlenecks", value, &arguments->metric);
	case OPTION_CLOCK:
		if (!g_strv_contains(clocks, value))
			return pp_cli_usage("bottlenecks",
					    "invalid --clock '%s' (expected wall, running or "
					    "conditionals)",
					    value);
		arguments->clock = value;
		return PP_EXIT_GOOD;
	case OPTION_WARMUP:
		return g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT, &arguments->n_warmup,
						  NULL)
			   ? PP_EXIT_GOOD
			   : pp_cli_usage("bottlenecks",
					  "invalid --warmup '%s' (expected a number)", value);
	}
	pp_cli_tables_take("bottlenecks", &arguments->how, option, value, &status);
	return status;
}

static const struct pp_cli_option option_table[] = {
    {"metric", "METRIC", OPTION_METRIC, "apwt, cpwt, aplt or mean"},
    {"clock", "CLOCK", OPTION_CLOCK, "wall, running or conditionals"},
    {"warmup", "N", OPTION_WARMUP, "leave the first N runs out"},
    {"top", "N", PP_CLI_TABLES_TOP, "the first N rows"},
    {"format", "FORMAT", PP_CLI_TABLES_FORMAT, "text (default), json, csv, or html: a page"},
    {"table", "TABLE", PP_CLI_TABLES_TABLE, "csv: this table only"},
    {"output", "PATH", 'o', "html: the file; csv: all tables, to PATH/TABLE.csv"},
    PP_CLI_OPTION_WIDE,
    PP_CLI_OPTION_QUIET,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "bottlenecks",
    .letters = ":o:hq",
    .table = option_table,
    .usage = "bottlenecks [OPTION...] DIR DIR...",
    .take = take_option,
};

static int write_page(const struct arguments *arguments, const struct pp_ranking *ranking,
		      const GPtrArray *tables)
{
	const struct pp_origin *origin = pp_ranking_origin(ranking);
	struct pp_campaign_page page = {
	    .path = arguments->output ?: DEFAULT_PAGE,
	    .program = origin->program,
	    .command = origin->command,
	    .origin = origin,
	    .metric = arguments->metric,
	    .is_counted = g_strcmp0(arguments->clock, "conditionals") == 0,
	    .tables = (struct pp_table *const *)tables->pdata,
	    .n_tables = tables->len,
	};
	struct pp_error err = PP_ERROR_INIT;

	return pp_campaign_page_write(&page, &err) ? pp_cli_fail(&err) : PP_EXIT_GOOD;
}

/* The cause in words, above the other notes. */
static void note_cause(const struct pp_ranking *ranking, struct pp_table *table)
{
	g_autofree char *cause = pp_ranking_cause(ranking);

	if (cause)
		g_ptr_array_insert(table->notes, 0, g_strdup_printf("cause: %s", cause));
}

static int print_ranking(const struct arguments *arguments, struct pp_ranking *ranking)
{
	g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	const struct pp_cli_tables *how = &arguments->how;

	pp_ranking_tables(ranking, tables);
	note_cause(ranking, tables->pdata[0]);
	g_ptr_array_add(tables, pp_ranking_sections(ranking));
	for (guint i = 0; how->has_top && i < tables->len; i++) {
		struct pp_table *table = tables->pdata[i];

		table->text_rows = 0;
		if (how->top)
			pp_table_keep_top(table, how->top);
	}
	g_ptr_array_add(tables, pp_ranking_take_runs(ranking));
	if (arguments->is_page)
		return write_page(arguments, ranking, tables);
	return pp_cli_tables_print(how, (struct pp_table *const *)tables->pdata, tables->len);
}

/* A capture that cannot be read, or is of another program, is reported; the others count. */
static int read_runs(const struct arguments *arguments, struct pp_ranking *ranking)
{
	int status = PP_EXIT_GOOD;

	for (guint run = 0; run < arguments->n_dirs; run++) {
		const char *left_out = run < arguments->n_warmup ? "warm-up" : NULL;
		struct pp_error err = PP_ERROR_INIT;

		if (pp_ranking_add(ranking, arguments->dirs[run], left_out, &err))
			status = pp_cli_fail(&err);
	}
	return status;
}

static int merge(const struct arguments *arguments)
{
	struct pp_ranking *ranking = pp_ranking_new(arguments->metric, arguments->clock);
	int status = read_runs(arguments, ranking);

	if (pp_ranking_counted(ranking) < 2) {
		struct pp_error err = PP_ERROR_INIT;

		pp_error_add(&err, -EINVAL,
			     "%u of %u runs can be used, expected two at least: the others could "
			     "not be read, failed, or were for warm-up",
			     pp_ranking_counted(ranking), arguments->n_dirs);
		status = pp_cli_fail(&err);
	} else {
		int printed = print_ranking(arguments, ranking);

		status = MAX(status, printed);
	}
	pp_ranking_free(ranking);
	return status;
}

int pp_cmd_bottlenecks(int argc, char **argv)
{
	struct arguments arguments = {.metric = PP_BY_APWT};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status >= 0)
		return status;
	arguments.dirs = argv + optind;
	arguments.n_dirs = (guint)(argc - optind);
	if (arguments.n_dirs < 2)
		return pp_cli_usage("bottlenecks",
				    "expected the directories of two captures at least");
	if (!arguments.is_page)
		arguments.how.dir = arguments.output;
	status = pp_cli_tables_check("bottlenecks", &arguments.how, 1);
	return status == PP_EXIT_GOOD ? merge(&arguments) : status;
}
