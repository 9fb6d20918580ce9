/* SPDX-License-Identifier: MIT */
/* gprof-mt diff: compares the tables of two captures, or checks budgets of two sides. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/budget/gate.h"
#include "cli/captures.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/sections.h"
#include "cli/select.h"
#include "cli/tables.h"
#include "cli/view.h"
#include "core/text/printable.h"
#include "table/diff.h"
#include "table/flat.h"
#include "calls/pool.h"

/* Rows per table in text, unless --top is given. */
#define TEXT_ROWS 20

enum { A, B, N_RUNS };

struct arguments {
	const char *dirs[N_RUNS];
	struct pp_cli_tables how;
	/* one per run: each records which values were found */
	struct pp_selection *selections[N_RUNS];
	struct pp_diff_options diff;
	GPtrArray *sections;
	struct pp_cli_gate gate; /* no budgets: compare the tables */
};

/* --- options -------------------------------------------------------------------------------- */

enum { OPTION_MIN_CHANGE = 0x300, OPTION_NO_LINES, OPTION_BUDGET, OPTION_JUNIT };

static int take_min_change(struct arguments *arguments, const char *value)
{
	char *end;
	double pct = g_ascii_strtod(value, &end);

	if (end == value || strcmp(*end == '%' ? end + 1 : end, "") != 0 || !isfinite(pct) ||
	    pct < 0)
		return pp_cli_usage("diff", "--min-change %s: not a percentage", value);
	arguments->diff.min_change_pct = pct;
	return PP_EXIT_GOOD;
}

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	switch (option) {
	case OPTION_MIN_CHANGE:
		return take_min_change(arguments, value);
	case OPTION_NO_LINES:
		arguments->diff.no_lines = true;
		return PP_EXIT_GOOD;
	case OPTION_BUDGET:
		return pp_cli_gate_take(&arguments->gate, value);
	case OPTION_JUNIT:
		arguments->gate.junit = value;
		return PP_EXIT_GOOD;
	}
	if (pp_cli_tables_take("diff", &arguments->how, option, value, &status)) {
		arguments->diff.top = arguments->how.top;
		return status;
	}
	for (unsigned run = 0; run < N_RUNS; run++) {
		pp_cli_select_take("diff", arguments->selections[run], option, value, &status);
		if (status != PP_EXIT_GOOD)
			break;
	}
	return status;
}

static const struct pp_cli_option option_table[] = {
    {"min-change", "PCT", OPTION_MIN_CHANGE, "no smaller changes"},
    {"no-lines", NULL, OPTION_NO_LINES, "sites without lines"},
    {"top", "N", PP_CLI_TABLES_TOP,
     "the N largest changes (default " G_STRINGIFY(TEXT_ROWS) " in text, or all); 0: all"},
    {"budget", "BUDGET", OPTION_BUDGET, "bounds, or FILE"},
    {"junit", "FILE", OPTION_JUNIT, "verdicts, as XML"},
    PP_CLI_TABLES_OPTIONS,
    {"tid", "T[,T]...", PP_CLI_SELECT_TID, NULL},
    {"thread", "PATTERN", PP_CLI_SELECT_THREAD, "by name: 'work*'"},
    PP_CLI_SELECT_TIMES,
    PP_CLI_SELECT_OPERATIONS,
    PP_CLI_OPTION_QUIET,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "diff",
    .letters = ":hq",
    .table = option_table,
    .usage = "diff [OPTION...] DIR_A DIR_B [SECTION...]",
    .print_further = pp_cli_sections_help,
    .take = take_option,
};

/* Refuses tids and addresses, which differ from run to run. */
static int check_selection(const struct pp_selection *selection)
{
	if (selection->tids->len)
		return pp_cli_usage(
		    "diff", "--tid: thread ids differ between runs; use --thread with a name");
	for (guint i = 0; i < selection->objects->len; i++) {
		const struct pp_wanted *wanted = selection->objects->pdata[i];

		if (wanted->number)
			return pp_cli_usage(
			    "diff",
			    "--object %s: addresses differ between runs; use the object's name",
			    wanted->text);
	}
	return PP_EXIT_GOOD;
}

/* Budgets are about whole captures. */
static int check_gate(const struct arguments *arguments)
{
	if (!arguments->gate.budgets->len)
		return arguments->gate.junit
			   ? pp_cli_usage("diff", "--junit: has the results of --budget, which is "
						  "missing")
			   : PP_EXIT_GOOD;
	if (arguments->sections->len)
		return pp_cli_usage("diff", "--budget: expected two arguments, and no sections");
	if (arguments->diff.min_change_pct > 0 || arguments->diff.no_lines ||
	    arguments->how.has_top)
		return pp_cli_usage("diff", "--min-change, --top and --no-lines do not apply to "
					    "--budget");
	return pp_cli_select_refuse("diff --budget", arguments->selections[A], 0);
}

static int take_words(struct arguments *arguments, char **words, int n_words)
{
	int status;

	if (n_words < N_RUNS)
		return pp_cli_usage("diff", "expected the directories of two captures");
	for (unsigned run = 0; run < N_RUNS; run++)
		arguments->dirs[run] = words[run];
	status = PP_EXIT_GOOD;
	if (!arguments->gate.budgets->len || n_words > N_RUNS)
		status = pp_cli_sections_take("diff", arguments->sections, words + N_RUNS,
					      n_words - N_RUNS);
	if (status == PP_EXIT_GOOD)
		status = check_gate(arguments);
	if (status == PP_EXIT_GOOD)
		status = pp_cli_tables_check(
		    "diff", &arguments->how,
		    arguments->gate.budgets->len ? 1 : arguments->sections->len);
	return status == PP_EXIT_GOOD ? check_selection(arguments->selections[A]) : status;
}

/* --- tables --------------------------------------------------------------------------------- */

/*
 * Adds comparisons of the tables in `flat` that have none yet, each with the other run's table of
 * that name.
 */
static void add_diffs(const struct arguments *arguments, const struct pp_flat_tables *flat,
		      unsigned run, GPtrArray *diffs)
{
	for (guint i = 0; i < flat[run].all->len; i++) {
		const struct pp_table *table = flat[run].all->pdata[i];
		const struct pp_table *other = pp_flat_tables_find(&flat[!run], table->key);

		if (table->is_excerpt || (run == B && other))
			continue;
		pp_table_diff(run == A ? table : other, run == A ? other : table, &arguments->diff,
			      diffs);
	}
}

static void add_all_diffs(const struct arguments *arguments, const struct pp_view *views,
			  GPtrArray *diffs)
{
	struct pp_flat_tables flat[N_RUNS];
	GPtrArray *tables[N_RUNS];

	for (unsigned run = 0; run < N_RUNS; run++) {
		tables[run] = pp_cli_sections_tables(&views[run], arguments->sections);
		pp_flat_tables_init(&flat[run], (struct pp_table *const *)tables[run]->pdata,
				    tables[run]->len);
	}
	for (unsigned run = 0; run < N_RUNS; run++)
		add_diffs(arguments, flat, run, diffs);
	for (unsigned run = 0; run < N_RUNS; run++) {
		pp_flat_tables_done(&flat[run]);
		g_ptr_array_unref(tables[run]);
	}
}

/* Prints the notes on stderr, for all formats. */
static void print_caveats(const struct pp_table *captures)
{
	for (guint i = 0; i < captures->notes->len; i++) {
		g_autofree char *note = pp_printable(g_strdup(captures->notes->pdata[i]));

		fprintf(stderr, "gprof-mt: %s\n", note);
	}
}

static int print_diffs(const struct arguments *arguments, const struct pp_view *views,
		       struct pp_table *captures)
{
	g_autoptr(GPtrArray) diffs = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	struct pp_cli_tables how = arguments->how;
	bool is_one = how.format == PP_CLI_CSV && !how.dir;
	int status;

	g_ptr_array_add(diffs, captures);
	add_all_diffs(arguments, views, diffs);
	for (guint i = 1; i < diffs->len && !arguments->how.has_top; i++)
		((struct pp_table *)diffs->pdata[i])->text_rows = TEXT_ROWS;
	if (is_one && !how.key && diffs->len > 1)
		how.key = ((const struct pp_table *)diffs->pdata[1])->key;
	status = pp_cli_tables_print(&how, (struct pp_table *const *)diffs->pdata, diffs->len);
	if (is_one && status == PP_EXIT_GOOD)
		print_caveats(captures);
	return status;
}

/* -------------------------------------------------------------------------------------------- */

/*
 * The sections, and with `blame` the leading cause, which the table of captures shows: `summary`
 * needs it anyway.
 */
static GPtrArray *passes_of(const struct arguments *arguments)
{
	GPtrArray *passes = g_ptr_array_copy(arguments->sections, NULL, NULL);

	if (g_ptr_array_find_with_equal_func(passes, "blame", g_str_equal, NULL))
		g_ptr_array_add(passes, (char *)"finding");
	return passes;
}

static int read_run(const struct arguments *arguments, struct pp_view *view, unsigned run,
		    struct pp_error *err)
{
	g_autoptr(GPtrArray) passes = passes_of(arguments);
	int ret = pp_view_open(view, arguments->dirs[run], NULL, err);

	if (ret < 0)
		return ret;
	view->name = run == A ? "A" : "B";
	pp_view_select(view, arguments->selections[run]);
	return pp_view_run(view, (const char *const *)passes->pdata, passes->len, err);
}

struct reading {
	const struct arguments *arguments;
	struct pp_view *views;
	struct pp_error errors[N_RUNS];
	int rets[N_RUNS];
	gint next; /* number of the run */
};

static void *read_next(void *data)
{
	struct reading *reading = data;
	gint run;

	while ((run = g_atomic_int_add(&reading->next, 1)) < N_RUNS)
		reading->rets[run] = read_run(reading->arguments, &reading->views[run],
					      (unsigned)run, &reading->errors[run]);
	return NULL;
}

/* Reads both runs, in parallel if there are CPUs for it. */
static int read_runs(const struct arguments *arguments, struct pp_view *views, struct pp_error *err)
{
	struct reading reading = {arguments, views, {PP_ERROR_INIT, PP_ERROR_INIT}, {0}, 0};
	unsigned failed;

	pp_calls_pool_at_once(pp_calls_pool_workers(N_RUNS), read_next, &reading);
	failed = reading.rets[A] < 0 ? A : B;
	*err = reading.errors[failed];
	pp_error_done(&reading.errors[!failed]);
	return reading.rets[failed];
}

/* A selected value must exist in one of the runs.  If the other one lacks it, a note says so. */
static int check_found(const struct arguments *arguments, const struct pp_view *views,
		       struct pp_table *captures, struct pp_error *err)
{
	unsigned heeded = pp_cli_sections_heed(arguments->sections);
	struct pp_error errors[N_RUNS] = {PP_ERROR_INIT, PP_ERROR_INIT};
	int rets[N_RUNS];

	for (unsigned run = 0; run < N_RUNS; run++)
		rets[run] = pp_cli_select_check(&views[run], heeded, &errors[run]);
	for (unsigned run = 0; run < N_RUNS; run++) {
		g_autofree char *text = pp_error_text(&errors[run]);

		if (rets[run] < 0 && rets[!run] == 0)
			pp_table_note(captures, "%s", text);
		else if (rets[run] < 0 && run == A)
			pp_error_add(err, rets[run], "%s", text);
		pp_error_done(&errors[run]);
	}
	return rets[A] < 0 && rets[B] < 0 ? rets[A] : 0;
}

static int diff(const struct arguments *arguments)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_view views[N_RUNS] = {0};
	struct pp_table *captures = NULL;
	int ret = read_runs(arguments, views, &err), status;

	if (ret == 0) {
		captures = pp_cli_captures(&views[A], &views[B]);
		ret = check_found(arguments, views, captures, &err);
	}
	if (ret == 0) {
		status = print_diffs(arguments, views, captures);
		for (unsigned run = 0; run < N_RUNS; run++) {
			int damaged = pp_view_print_damage(&views[run]);

			status = MAX(status, damaged);
		}
	} else {
		status = pp_cli_fail(&err);
		pp_table_free(captures);
	}
	for (unsigned run = 0; run < N_RUNS; run++)
		pp_view_done(&views[run]);
	return status;
}

int pp_cmd_diff(int argc, char **argv)
{
	struct arguments arguments = {
	    .selections = {pp_selection_new(), pp_selection_new()},
	    .sections = g_ptr_array_new(),
	};
	int status;

	pp_cli_gate_init(&arguments.gate);
	status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status < 0) {
		status = take_words(&arguments, argv + optind, argc - optind);
		arguments.diff.changed_only = arguments.how.format == PP_CLI_TEXT;
		if (status == PP_EXIT_GOOD && arguments.gate.budgets->len)
			status = pp_cli_gate_run(&arguments.gate, &arguments.how, arguments.dirs[A],
						 arguments.dirs[B]);
		else if (status == PP_EXIT_GOOD)
			status = diff(&arguments);
	}
	for (unsigned run = 0; run < N_RUNS; run++)
		pp_selection_free(arguments.selections[run]);
	g_ptr_array_unref(arguments.sections);
	pp_cli_gate_done(&arguments.gate);
	return status;
}
