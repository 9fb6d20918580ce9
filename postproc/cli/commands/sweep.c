/* SPDX-License-Identifier: MIT */
/* gprof-mt sweep: finds the workloads that expose a synchronization problem, and its cause. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/campaign/engine.h"
#include "cli/campaign/page.h"
#include "cli/campaign/run_pages.h"
#include "cli/campaign/tables.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/tables.h"
#include "core/text/duration.h"
#include "export/html/write.h"
#include "table/top.h"

#define DEFAULT_DIR  "gprof-mt.sweep"
#define DEFAULT_RUNS 20
#define PAGE	     "campaign.html"

struct arguments {
	struct pp_cli_tables how;
	struct pp_campaign campaign;
	struct pp_test *test; /* of the command line */
	const char *dir;
	bool has_numbers; /* --workload, --threads or --cpus was given */
	bool resume;
	bool pages; /* of the recorded runs, too */
};

/* --- options -------------------------------------------------------------------------------- */

enum {
	OPTION_WORKLOAD = 0x300,
	OPTION_RUNS,
	OPTION_WARMUP,
	OPTION_CPUS,
	OPTION_THREADS,
	OPTION_BUDGET,
	OPTION_TIMEOUT,
	OPTION_RESUME,
	OPTION_PAGES,
	OPTION_METRIC
};

/* An error in the value of an option. */
static int refuse(const char *option, struct pp_error *err)
{
	g_autofree char *text = pp_error_text(err);

	pp_error_done(err);
	return pp_cli_usage("sweep", "invalid --%s: %s", option, text);
}

static int take_numbers(struct arguments *arguments, const char *option, const char *value,
			int (*read)(const char *, GArray **, struct pp_error *), GArray **ret)
{
	struct pp_error err = PP_ERROR_INIT;

	g_clear_pointer(ret, g_array_unref);
	arguments->has_numbers = true;
	return read(value, ret, &err) ? refuse(option, &err) : PP_EXIT_GOOD;
}

static int take_count(const char *option, const char *value, uint64_t least, uint64_t *ret)
{
	if (g_ascii_string_to_unsigned(value, 10, least, G_MAXINT, ret, NULL))
		return PP_EXIT_GOOD;
	return pp_cli_usage("sweep", "invalid --%s '%s' (expected a number from %" PRIu64 " on%s)",
			    option, value, least, least == 2 ? "; a single run has no spread" : "");
}

/* Also minutes and hours, which pp_duration_read() does not know. */
static int take_time(const char *option, const char *value, int64_t *ret_ns)
{
	size_t len = strlen(value);
	char unit = len ? value[len - 1] : '\0';
	int64_t factor = unit == 'm' ? 60 : unit == 'h' ? 3600 : 1;
	g_autofree char *number = g_strndup(value, len - (factor != 1));

	if (pp_duration_read(number, "s", ret_ns) && *ret_ns > 0 &&
	    *ret_ns < (INT64_C(1) << 62) / factor) {
		*ret_ns *= factor;
		return PP_EXIT_GOOD;
	}
	return pp_cli_usage("sweep", "invalid --%s '%s' (expected a time, such as 90s, 30m or 2h)",
			    option, value);
}

static int take_warmup(struct arguments *arguments, const char *value)
{
	uint64_t n = 0;
	int status = take_count("warmup", value, 0, &n);

	arguments->test->warmup = (int64_t)n;
	return status;
}

/* As `record` will take it. */
static int take_setting(struct pp_campaign *campaign, const char *value)
{
	struct gm_config_error error;
	struct gm_config config;

	gm_config_defaults(&config);
	if (gm_config_set(value, &config, &error))
		return pp_cli_usage("sweep", "%s", error.text);
	g_ptr_array_add(campaign->settings, (char *)value);
	return PP_EXIT_GOOD;
}

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	struct pp_campaign *campaign = &arguments->campaign;
	struct pp_test *test = arguments->test;
	int status;

	switch (option) {
	case OPTION_WORKLOAD:
		return take_numbers(arguments, "workload", value, pp_numbers_read, &test->workload);
	case OPTION_CPUS:
		return take_numbers(arguments, "cpus", value, pp_numbers_read, &test->cpus);
	case OPTION_THREADS:
		return take_numbers(arguments, "threads", value, pp_thread_numbers_read,
				    &test->threads);
	case OPTION_RUNS:
		return take_count("runs", value, 2, &campaign->n_runs);
	case OPTION_WARMUP:
		return take_warmup(arguments, value);
	case OPTION_BUDGET:
		return take_time("budget", value, &campaign->budget_ns);
	case OPTION_TIMEOUT:
		return take_time("timeout", value, &campaign->timeout_ns);
	case OPTION_RESUME:
		arguments->resume = true;
		return PP_EXIT_GOOD;
	case OPTION_PAGES:
		arguments->pages = true;
		return PP_EXIT_GOOD;
	case OPTION_METRIC:
		return pp_ranking_take_metric("sweep", value, &campaign->metric);
	case 's':
		return take_setting(campaign, value);
	case 'o':
		arguments->dir = value;
		return PP_EXIT_GOOD;
	}
	pp_cli_tables_take("sweep", &arguments->how, option, value, &status);
	return status;
}

static const struct pp_cli_option option_table[] = {
    {"workload", "RANGE", OPTION_WORKLOAD, "numbers for {w}: 1000..20000:1000, 1..64*2 or 1,2,5"},
    {"threads", "{t}=LIST", OPTION_THREADS,
     "numbers for {t}; or a number, if it is always the same"},
    {"cpus", "LIST", OPTION_CPUS, "numbers of CPUs to use"},
    {"runs", "N", OPTION_RUNS, "runs of each (default 20)"},
    {"warmup", "N", OPTION_WARMUP, "runs before, not counted"},
    {"timeout", "TIME", OPTION_TIMEOUT, "kill a run after that"},
    {"budget", "TIME", OPTION_BUDGET, "end after that: 90s, 30m"},
    {"output", "DIR", 'o', "the campaign's directory (default " DEFAULT_DIR ")"},
    {"resume", NULL, OPTION_RESUME, "continue in DIR"},
    {"pages", NULL, OPTION_PAGES, "a page of each recorded run"},
    {"set", "KEY=VALUE", 's', "for record; may be repeated"},
    {"metric", "METRIC", OPTION_METRIC, "apwt, cpwt, aplt or mean"},
    {"top", "N", PP_CLI_TABLES_TOP, "the first N sections"},
    PP_CLI_OPTION_FORMAT(PP_CLI_TABLES_FORMAT),
    {"table", "TABLE", PP_CLI_TABLES_TABLE, "csv: this table only"},
    PP_CLI_OPTION_WIDE,
    PP_CLI_OPTION_QUIET,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

/* "+": stop at the command, which has its own options. */
static const struct pp_cli_options options = {
    .command = "sweep",
    .letters = "+:o:qh",
    .table = option_table,
    .usage = "sweep [OPTION...] -- COMMAND [ARGUMENT...]\n"
	     "       gprof-mt sweep [OPTION...] FILE\n\n"
	     "Runs COMMAND, or the tests of FILE, with rising workloads; finds those that\n"
	     "expose a synchronization problem, and the critical sections that cause it.",
    .take = take_option,
};

/* --- tests ---------------------------------------------------------------------------------- */

/* A name from that of the program. */
static char *name_of(const char *program)
{
	char *name = g_path_get_basename(program);

	g_strcanon(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-", '_');
	if (*name == '.')
		*name = '_';
	return name;
}

static int take_command(struct arguments *arguments, char **argv)
{
	struct pp_test *test = arguments->test;
	struct pp_error err = PP_ERROR_INIT;
	int rc;

	test->command = g_strdupv(argv);
	test->name = name_of(argv[0]);
	g_ptr_array_add(arguments->campaign.tests, test);
	arguments->test = NULL;
	rc = pp_test_check(test, &err);
	if (rc == -EINVAL) {
		g_autofree char *text = pp_error_text(&err);

		pp_error_done(&err);
		return pp_cli_usage("sweep", "%s", text);
	}
	return rc ? pp_cli_fail(&err) : PP_EXIT_GOOD;
}

static int take_file(struct arguments *arguments, const char *file)
{
	struct pp_error err = PP_ERROR_INIT;

	if (arguments->has_numbers || arguments->test->warmup)
		return pp_cli_usage("sweep",
				    "--workload, --threads, --cpus and --warmup are for a "
				    "command: put them into %s, or write -- before the "
				    "command",
				    file);
	g_ptr_array_unref(arguments->campaign.tests);
	arguments->campaign.tests = NULL;
	return pp_plan_read(file, &arguments->campaign.tests, &err) ? pp_cli_fail(&err)
								    : PP_EXIT_GOOD;
}

/* A command follows "--", or the options for one; a single word without these is a file. */
static int take_tests(struct arguments *arguments, int argc, char **argv)
{
	bool has_dashes = optind > 1 && strcmp(argv[optind - 1], "--") == 0;

	if (optind == argc)
		return pp_cli_usage("sweep", "no command to run, and no file of tests");
	if (argc - optind > 1 || has_dashes)
		return take_command(arguments, argv + optind);
	return take_file(arguments, argv[optind]);
}

/* --- page ----------------------------------------------------------------------------------- */

/* Returns the origin of the first recorded run that could be read; NULL: none. */
static const struct pp_origin *find_origin(const struct pp_campaign *campaign)
{
	for (guint i = 0; i < campaign->log.runs->len; i++) {
		const struct pp_campaign_run *run = campaign->log.runs->pdata[i];
		const struct pp_facts *facts =
		    run->file ? g_hash_table_lookup(campaign->facts, run->file) : NULL;

		if (facts && !facts->error)
			return &facts->origin;
	}
	return NULL;
}

/* The command of the only test, or the number of tests.  The caller frees it. */
static char *command_of(const struct pp_campaign *campaign)
{
	const struct pp_test *test = campaign->tests->pdata[0];

	return campaign->tests->len == 1 ? g_strjoinv(" ", test->command)
					 : g_strdup_printf("%u tests", campaign->tests->len);
}

static char *page_path(const struct arguments *arguments)
{
	return g_build_filename(arguments->dir, PAGE, NULL);
}

/* Writes the page of the campaign, unless this program was built without it. */
static int write_page(const struct arguments *arguments, const GPtrArray *tables)
{
	const struct pp_campaign *campaign = &arguments->campaign;
	const struct pp_test *test = campaign->tests->pdata[0];
	const struct pp_origin *origin = find_origin(campaign);
	g_autofree char *path = page_path(arguments), *command = command_of(campaign);
	g_autofree char *program = g_path_get_basename(test->command[0]);
	struct pp_campaign_page page = {
	    .path = path,
	    .program = origin && origin->program ? origin->program : program,
	    .command = command,
	    .origin = origin,
	    .metric = campaign->metric,
	    .tables = (struct pp_table *const *)tables->pdata,
	    .n_tables = tables->len,
	};
	struct pp_error err = PP_ERROR_INIT;

	if (!pp_html_is_built())
		return PP_EXIT_GOOD;
	return pp_campaign_page_write(&page, &err) ? pp_cli_fail(&err) : PP_EXIT_GOOD;
}

/* Below the tables as text; other formats are for programs. */
static int print_page(const struct arguments *arguments)
{
	g_autofree char *path = page_path(arguments);
	g_autoptr(GString) text = g_string_new(NULL);

	if (pp_html_is_built())
		g_string_printf(text, "\nPage for a browser: %s\n", path);
	else
		g_string_assign(text, "\nNo page for a browser: this gprof-mt was built without "
				      "esbuild\n");
	return pp_cli_print(text);
}

/* Makes the pages of the recorded runs, and that of the campaign again, with links to them. */
static int make_run_pages(const struct arguments *arguments, struct pp_campaign *campaign)
{
	g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	struct pp_error err = PP_ERROR_INIT;
	int status = PP_EXIT_GOOD, written;

	if (pp_campaign_make_run_pages(campaign, &err))
		status = pp_cli_fail(&err);
	pp_campaign_tables(campaign, tables);
	written = write_page(arguments, tables);
	return MAX(status, written);
}

/* --- output --------------------------------------------------------------------------------- */

static bool is_ranking(const struct pp_table *table)
{
	return g_str_equal(table->key, "bottlenecks") || g_str_equal(table->key, "inconclusive") ||
	       g_str_equal(table->key, "sections");
}

static int print_tables(struct arguments *arguments)
{
	g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	const struct pp_cli_tables *how = &arguments->how;
	int status, printed;

	pp_campaign_tables(&arguments->campaign, tables);
	status = write_page(arguments, tables);
	for (guint i = 0; how->has_top && i < tables->len; i++) {
		struct pp_table *table = tables->pdata[i];

		if (!is_ranking(table))
			continue;
		table->text_rows = 0;
		if (how->top)
			pp_table_keep_top(table, how->top);
	}
	printed = pp_cli_tables_print(how, (struct pp_table *const *)tables->pdata, tables->len);
	if (status == PP_EXIT_GOOD && printed == PP_EXIT_GOOD && how->format == PP_CLI_TEXT)
		printed = print_page(arguments);
	return MAX(status, printed);
}

static int sweep(struct arguments *arguments)
{
	struct pp_campaign *campaign = &arguments->campaign;
	struct pp_error err = PP_ERROR_INIT;
	int status = PP_EXIT_GOOD, printed;

	if (pp_campaign_log_open(&campaign->log, arguments->dir, campaign->tests, arguments->resume,
				 &err))
		return pp_cli_fail(&err);
	if (pp_campaign_run_all(campaign, &err))
		status = pp_cli_fail(&err);
	else if (campaign->end == PP_END_INTERRUPTED)
		status = PP_EXIT_FAILED;
	printed = print_tables(arguments);
	status = MAX(status, printed);
	if (arguments->pages && campaign->end != PP_END_INTERRUPTED) {
		int made = make_run_pages(arguments, campaign);

		status = MAX(status, made);
	}
	pp_campaign_done(campaign);
	return status;
}

int pp_cmd_sweep(int argc, char **argv)
{
	struct arguments arguments = {.dir = DEFAULT_DIR};
	struct pp_campaign *campaign = &arguments.campaign;
	int status;

	campaign->n_runs = DEFAULT_RUNS;
	campaign->metric = PP_BY_APWT;
	campaign->settings = g_ptr_array_new();
	campaign->tests = g_ptr_array_new_with_free_func(pp_test_free);
	campaign->log.fd = -1;
	arguments.test = g_new0(struct pp_test, 1);
	status = pp_cli_options_read(&options, argc, argv, &arguments);
	if (status < 0) {
		status = pp_cli_tables_check("sweep", &arguments.how, 1);
		if (status == PP_EXIT_GOOD && arguments.pages && !pp_html_is_built())
			status = pp_cli_usage("sweep", "--pages: this gprof-mt was built without "
						       "its page: install esbuild and build again");
		if (status == PP_EXIT_GOOD)
			status = take_tests(&arguments, argc, argv);
		if (status == PP_EXIT_GOOD)
			status = sweep(&arguments);
		if (campaign->log.dir)
			pp_campaign_log_done(&campaign->log);
	}
	pp_test_free(arguments.test);
	g_clear_pointer(&campaign->tests, g_ptr_array_unref);
	g_ptr_array_unref(campaign->settings);
	return status;
}
