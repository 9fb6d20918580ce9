/* SPDX-License-Identifier: MIT */
/* gprof-mt predict: what optimistic concurrency, or locks without unnecessary contention, would
 * gain. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/captures.h"
#include "cli/commands.h"
#include "cli/operation_cost.h"
#include "cli/options.h"
#include "cli/tables.h"
#include "cli/ulcp/ulcp.h"
#include "cli/view.h"
#include "core/text/duration.h"
#include "core/text/json.h"
#include "export/out.h"
#include "pass/occ/columns.h"
#include "pass/occ/predict.h"
#include "render/page.h"
#include "table/top.h"

#define DEFAULT_PAGE "gprof-mt.html"

struct arguments {
	struct pp_cli_tables how;
	bool is_page;	    /* --format html */
	const char *output; /* of a page, or of CSV; NULL: the default */
	bool by_name;
	int64_t cost_ns;		       /* --cost; -1: to be measured */
	const char *timing, *accesses;	       /* directories; accesses: NULL: the same */
	struct pp_cli_replay_arguments replay; /* of the method ulcp: its own options */
	bool locksets;
	const char *occ_option, *ulcp_option; /* the last one of one method; NULL: none */
};

enum {
	OPTION_COST = 0x300,
	OPTION_BY_NAME,
	OPTION_ENGINE,
	OPTION_LOCKSETS,
	OPTION_RUNS,
	OPTION_GAPS,
	OPTION_WRITE
};

/* Options of the method ulcp. */
static int take_ulcp_option(struct arguments *arguments, int option, const char *value)
{
	switch (option) {
	case OPTION_ENGINE:
		arguments->ulcp_option = "engine";
		return pp_cli_replay_take_engine("predict", value, &arguments->replay.engine);
	case OPTION_RUNS:
		arguments->ulcp_option = "runs";
		return pp_cli_replay_take_runs("predict", value, &arguments->replay.n_runs);
	case OPTION_LOCKSETS:
		arguments->ulcp_option = "locksets";
		arguments->locksets = true;
		return PP_EXIT_GOOD;
	case OPTION_GAPS:
		arguments->ulcp_option = "allow-gaps";
		arguments->replay.allow_gaps = true;
		return PP_EXIT_GOOD;
	default:
		arguments->ulcp_option = "write";
		arguments->replay.write = value;
		return PP_EXIT_GOOD;
	}
}

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	switch (option) {
	case OPTION_BY_NAME:
		arguments->occ_option = "by-name";
		arguments->by_name = true;
		return PP_EXIT_GOOD;
	case OPTION_ENGINE:
	case OPTION_LOCKSETS:
	case OPTION_RUNS:
	case OPTION_GAPS:
	case OPTION_WRITE:
		return take_ulcp_option(arguments, option, value);
	case OPTION_COST:
		arguments->occ_option = "cost";
		return pp_duration_read(value, "ns", &arguments->cost_ns) && arguments->cost_ns >= 0
			   ? PP_EXIT_GOOD
			   : pp_cli_usage("predict", "invalid --cost '%s' (expected ns)", value);
	case PP_CLI_TABLES_FORMAT:
		return pp_cli_take_page_format("predict", value, &arguments->how.format,
					       &arguments->is_page);
	case 'o':
		arguments->output = value;
		return PP_EXIT_GOOD;
	}
	pp_cli_tables_take("predict", &arguments->how, option, value, &status);
	return status;
}

static const struct pp_cli_option option_table[] = {
    {"cost", "NS", OPTION_COST, "occ: of recording an operation (default: measured now)"},
    {"by-name", NULL, OPTION_BY_NAME, "occ: join locks and sites by name, not by build"},
    {"engine", "ENGINE", OPTION_ENGINE, "ulcp: simulation (default), or skeleton: real threads"},
    {"locksets", NULL, OPTION_LOCKSETS, "ulcp: with skeletons, the cost of auxiliary locks"},
    {"runs", "N", OPTION_RUNS, "ulcp: replays of each (default 10)"},
    {"allow-gaps", NULL, OPTION_GAPS, "ulcp: replay what is known of an incomplete capture"},
    {"write", "FILE", OPTION_WRITE, "ulcp: write the model without the contention to FILE"},
    {"top", "N", PP_CLI_TABLES_TOP, "the first N sections, or pairs of regions"},
    {"format", "FORMAT", PP_CLI_TABLES_FORMAT, "text (default), json, csv, or html: a page"},
    {"table", "TABLE", PP_CLI_TABLES_TABLE, "csv: this table only"},
    {"output", "PATH", 'o', "html: the file; csv: all tables, to PATH/TABLE.csv"},
    PP_CLI_OPTION_WIDE,
    PP_CLI_OPTION_QUIET,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static void print_methods(void)
{
	printf("methods:\n  occ   optimistic concurrency: transactional memory, finer locks\n"
	       "  ulcp  locks without unnecessary contention (one capture can do)\n");
}

static const struct pp_cli_options options = {
    .command = "predict",
    .letters = ":o:hq",
    .table = option_table,
    .usage = "predict METHOD [OPTION...] TIMING [ACCESSES]",
    .print_further = print_methods,
    .take = take_option,
};

/* --- captures ------------------------------------------------------------------------------- */

/* Opens a capture and runs the passes over it. */
static int read_capture(struct pp_view *view, const char *dir, bool wants_timing,
			bool wants_accesses, struct pp_error *err)
{
	const char *passes[2];
	unsigned n = 0;
	int rc = pp_view_open(view, dir, NULL, err);

	if (rc == 0 && wants_accesses)
		rc = pp_view_check_accesses(view, err);
	if (wants_timing)
		passes[n++] = "occ-timing";
	if (wants_accesses)
		passes[n++] = "occ-accesses";
	if (rc == 0)
		rc = pp_view_run(view, passes, n, err);
	return rc;
}

static const struct pp_table *table_of(const struct pp_view *view, const char *pass, unsigned at)
{
	unsigned n = 0;

	return pp_pass_set_tables(view->passes, pass, &n)[at];
}

/* --- notes ---------------------------------------------------------------------------------- */

static void note_other_machine(struct pp_table *table, const struct pp_view *view)
{
	const char *host =
	    pp_json_string(pp_json_object(view->capture->model->info, "host"), "hostname");

	if (host && strcmp(host, g_get_host_name()) != 0)
		pp_table_note(table,
			      "the cost was measured on %s, but the capture is of %s: give its "
			      "cost with --cost",
			      g_get_host_name(), host);
}

static void copy_notes(struct pp_table *to, const struct pp_table *from)
{
	for (guint i = 0; i < from->notes->len; i++)
		pp_table_note(to, "%s", (const char *)from->notes->pdata[i]);
}

static void note_left_out(struct pp_table *table, const struct pp_table *left_out)
{
	if (left_out->rows->len)
		pp_table_note(table, "%u locks are left out: see table %s", left_out->rows->len,
			      left_out->key);
}

static void add_notes(const struct arguments *arguments, const struct pp_view *timing,
		      const GPtrArray *tables, double cost_ns)
{
	struct pp_table *table = tables->pdata[0];

	copy_notes(table, table_of(timing, "occ-timing", 0));
	if (!arguments->accesses)
		pp_table_note(table, "one capture for both: recording accesses distorts its times");
	else if (pp_view_has_accesses(timing))
		pp_table_note(table, "%s also records accesses, which distorts its times",
			      arguments->timing);
	pp_table_note(table, "cost of recording: %.1f ns for each operation, %s", cost_ns,
		      arguments->cost_ns >= 0 ? "as given" : "measured on this machine now");
	if (arguments->cost_ns < 0)
		note_other_machine(table, timing);
	note_left_out(table, tables->pdata[2]);
}

/* --- the prediction ------------------------------------------------------------------------- */

static int write_page(const struct arguments *arguments, const char *words, GPtrArray *tables)
{
	const struct pp_page page = {.title = "Optimistic concurrency", .words = words};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_out out = {0};
	int rc = pp_out_open(&out, arguments->output ?: DEFAULT_PAGE, &err);

	if (rc == 0) {
		pp_render_page(out.text, &page, (struct pp_table *const *)tables->pdata,
			       tables->len);
		rc = pp_out_finish(&out, &err);
	}
	pp_out_done(&out);
	return rc ? pp_cli_fail(&err) : PP_EXIT_GOOD;
}

static int print_prediction(const struct arguments *arguments, GPtrArray *tables)
{
	struct pp_table *table = tables->pdata[0];
	g_autofree char *words = pp_occ_words(table, tables->pdata[1]);

	if (arguments->how.has_top && arguments->how.top)
		pp_table_keep_top(table, arguments->how.top);
	if (arguments->is_page)
		return write_page(arguments, words, tables);
	if (arguments->how.format == PP_CLI_TEXT)
		table->text = pp_occ_text(table, words);
	else
		g_ptr_array_insert(table->notes, 0, g_steal_pointer(&words));
	return pp_cli_tables_print(&arguments->how, (struct pp_table *const *)tables->pdata,
				   tables->len);
}

/* 0: it was not measured. */
static double release_cost(const struct pp_table *costs)
{
	const struct pp_cell *row = costs->rows->pdata[0];

	return row[PP_OCC_RELEASE_COST].missing ? 0 : row[PP_OCC_RELEASE_COST].number;
}

static int predict(const struct arguments *arguments, const struct pp_view *timing,
		   const struct pp_view *accesses)
{
	g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	struct pp_occ_inputs inputs = {
	    .join = {.timing = table_of(timing, "occ-timing", 0),
		     .accesses = table_of(accesses, "occ-accesses", 0),
		     .by_name = arguments->by_name},
	    .threads = table_of(timing, "occ-timing", 1),
	    .release_ns = release_cost(table_of(timing, "occ-timing", 2)),
	    .operation_ns = (double)arguments->cost_ns,
	};
	struct pp_error err = PP_ERROR_INIT;
	int status = pp_view_print_damage(timing), printed;

	if (accesses != timing)
		status = MAX(status, pp_view_print_damage(accesses));
	if (arguments->cost_ns < 0 && pp_operation_cost_measure(&inputs.operation_ns, &err))
		return pp_cli_fail(&err);
	if (pp_occ_predict(&inputs, tables, &err))
		return pp_cli_fail(&err);
	add_notes(arguments, timing, tables, inputs.operation_ns);
	printed = print_prediction(arguments, tables);
	return MAX(status, printed);
}

static int read_and_predict(const struct arguments *arguments)
{
	struct pp_view timing = {0}, accesses = {0};
	struct pp_error err = PP_ERROR_INIT;
	int rc = read_capture(&timing, arguments->timing, true, !arguments->accesses, &err);
	int status;

	if (rc == 0 && arguments->accesses)
		rc = read_capture(&accesses, arguments->accesses, false, true, &err);
	status = rc ? pp_cli_fail(&err)
		    : predict(arguments, &timing, arguments->accesses ? &accesses : &timing);
	if (arguments->accesses)
		pp_view_done(&accesses);
	pp_view_done(&timing);
	return status;
}

static int predict_ulcp(struct arguments *arguments)
{
	struct pp_cli_ulcp_arguments of = {.replay = arguments->replay,
					   .accesses = arguments->accesses,
					   .locksets = arguments->locksets};
	int status;

	if (arguments->locksets && arguments->replay.engine != PP_CLI_REPLAY_SKELETON)
		return pp_cli_usage("predict", "--locksets needs --engine=skeleton");
	of.replay.how = arguments->how;
	of.replay.path = arguments->timing;
	of.replay.is_page = arguments->is_page;
	of.replay.page = arguments->output ?: DEFAULT_PAGE;
	of.replay.changes = g_ptr_array_new();
	status = pp_cli_ulcp(&of);
	g_ptr_array_unref(of.replay.changes);
	return status;
}

/* Reads the words behind the options. Returns PP_EXIT_GOOD, or the exit status. */
static int take_words(struct arguments *arguments, int n, char **words, bool *ret_ulcp)
{
	const char *other;

	*ret_ulcp = false;
	if (n < 1)
		return pp_cli_usage("predict", "expected a method (occ or ulcp)");
	*ret_ulcp = strcmp(words[0], "ulcp") == 0;
	if (!*ret_ulcp && strcmp(words[0], "occ") != 0)
		return pp_cli_usage("predict", "unknown method '%s' (expected occ or ulcp)",
				    words[0]);
	other = *ret_ulcp ? arguments->occ_option : arguments->ulcp_option;
	if (other)
		return pp_cli_usage("predict", "--%s is an option of the method %s", other,
				    *ret_ulcp ? "occ" : "ulcp");
	if (n < 2 || n > 3)
		return pp_cli_usage("predict", "expected the directories of one capture or two");
	arguments->timing = words[1];
	arguments->accesses = n == 3 ? words[2] : NULL;
	return PP_EXIT_GOOD;
}

int pp_cmd_predict(int argc, char **argv)
{
	struct arguments arguments = {.cost_ns = -1, .replay.n_runs = PP_CLI_REPLAY_RUNS};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);
	bool is_ulcp;

	if (status >= 0)
		return status;
	status = take_words(&arguments, argc - optind, argv + optind, &is_ulcp);
	if (status != PP_EXIT_GOOD)
		return status;
	if (!arguments.is_page)
		arguments.how.dir = arguments.output;
	status = pp_cli_tables_check("predict", &arguments.how, 1);
	if (status != PP_EXIT_GOOD)
		return status;
	return is_ulcp ? predict_ulcp(&arguments) : read_and_predict(&arguments);
}
