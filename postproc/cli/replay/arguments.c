/* SPDX-License-Identifier: MIT */
/* Each option has a row in the table, from which its help is made. */
#include "cli/replay/arguments.h"

#include <string.h>
#include <unistd.h>

#include "analysis/select.h"
#include "campaign/plan.h"
#include "cli/commands.h"
#include "cli/view.h"
#include "core/text/duration.h"

#define DEFAULT_PAGE "gprof-mt.html"

enum {
	OPTION_AGAINST = 0x300,
	OPTION_CHECK,
	OPTION_COST,
	OPTION_CPUS,
	OPTION_ENGINE,
	OPTION_FAIR,
	OPTION_GAPS,
	OPTION_ORDER,
	OPTION_RANK,
	OPTION_RUNS,
	OPTION_TIME,
	OPTION_WHAT_IF,
	OPTION_WRITE
};

static const char *const engines[] = {
    [PP_CLI_REPLAY_SIMULATION] = "simulation",
    [PP_CLI_REPLAY_SKELETON] = "skeleton",
    NULL,
};

static const char *const orders[] = {
    [PP_SKELETON_FREE] = "free",
    [PP_SKELETON_LOCKS] = "locks",
    [PP_SKELETON_ALL] = "all",
    NULL,
};

/* Takes the number of a word. */
static int take_word(const char *command, const char *option, const char *value,
		     const char *const *words, unsigned *ret)
{
	g_autofree char *expected = NULL;

	for (*ret = 0; words[*ret]; (*ret)++)
		if (strcmp(words[*ret], value) == 0)
			return PP_EXIT_GOOD;
	expected = g_strjoinv(", ", (char **)words);
	return pp_cli_usage(command, "invalid --%s '%s' (expected %s)", option, value, expected);
}

int pp_cli_replay_take_engine(const char *command, const char *value,
			      enum pp_cli_replay_engine *ret)
{
	return take_word(command, "engine", value, engines, ret);
}

static int take_cpus(const char *value, GArray **cpus)
{
	struct pp_error err = PP_ERROR_INIT;
	int rc;

	g_clear_pointer(cpus, g_array_unref);
	rc = pp_numbers_read(value, cpus, &err);
	pp_error_done(&err);
	if (rc == 0 && g_array_index(*cpus, int64_t, (*cpus)->len - 1) <= PP_CLI_REPLAY_MAX_CPUS)
		return PP_EXIT_GOOD;
	return pp_cli_usage(
	    "replay",
	    "invalid --cpus '%s' (expected N, A..B, or several that rise, from 1 to "
	    "%d)",
	    value, PP_CLI_REPLAY_MAX_CPUS);
}

int pp_cli_replay_take_runs(const char *command, const char *value, uint32_t *ret)
{
	guint64 n;

	if (!g_ascii_string_to_unsigned(value, 10, 2, 1000, &n, NULL))
		return pp_cli_usage(command, "invalid --runs '%s' (expected 2 to 1000)", value);
	*ret = (uint32_t)n;
	return PP_EXIT_GOOD;
}

static int take_cost(const char *value, int64_t *ret)
{
	return pp_duration_read(value, "ns", ret) && *ret >= 0 && *ret <= PP_CLI_REPLAY_MAX_COST_NS
		   ? PP_EXIT_GOOD
		   : pp_cli_usage("replay", "invalid --cost '%s' (expected ns, at most 1 s)",
				  value);
}

static int take_time(const char *value, struct pp_cli_replay_arguments *arguments)
{
	struct pp_selection *selection = pp_selection_new();
	bool is_good = pp_select_time(selection, value);

	arguments->has_time = true;
	arguments->from_ns = selection->from_ns;
	arguments->to_ns = selection->to_ns;
	pp_selection_free(selection);
	return is_good ? PP_EXIT_GOOD
		       : pp_cli_usage("replay",
				      "invalid --time '%s' (expected A~B, A~ or ~B, as 1.5~2 or "
				      "20ms~30ms)",
				      value);
}

static int take_change(const char *text, GPtrArray *changes)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_change *change = pp_change_parse(text, &err);
	g_autofree char *wrong = change ? NULL : pp_error_text(&err);

	pp_error_done(&err);
	if (!change)
		return pp_cli_usage("replay", "invalid --what-if %s", wrong);
	g_ptr_array_add(changes, change);
	return PP_EXIT_GOOD;
}

static int take_option(void *data, int option, const char *value)
{
	struct pp_cli_replay_arguments *arguments = data;
	int status;

	switch (option) {
	case OPTION_CPUS:
		return take_cpus(value, &arguments->cpus);
	case OPTION_RUNS:
		return pp_cli_replay_take_runs("replay", value, &arguments->n_runs);
	case OPTION_COST:
		return take_cost(value, &arguments->cost_ns);
	case OPTION_TIME:
		return take_time(value, arguments);
	case OPTION_WHAT_IF:
		return take_change(value, arguments->changes);
	case OPTION_AGAINST:
		arguments->against = value;
		return PP_EXIT_GOOD;
	case OPTION_CHECK:
		arguments->check = true;
		return PP_EXIT_GOOD;
	case OPTION_RANK:
		arguments->rank = true;
		return PP_EXIT_GOOD;
	case PP_CLI_TABLES_FORMAT:
		return pp_cli_take_page_format("replay", value, &arguments->how.format,
					       &arguments->is_page);
	case PP_CLI_TABLES_OUTPUT:
		arguments->page = value;
		return PP_EXIT_GOOD;
	case OPTION_ENGINE:
		return pp_cli_replay_take_engine("replay", value, &arguments->engine);
	case OPTION_ORDER:
		return take_word("replay", "order", value, orders, &arguments->order);
	case OPTION_FAIR:
		arguments->fair = true;
		return PP_EXIT_GOOD;
	case OPTION_GAPS:
		arguments->allow_gaps = true;
		return PP_EXIT_GOOD;
	case OPTION_WRITE:
		arguments->write = value;
		return PP_EXIT_GOOD;
	default:
		pp_cli_tables_take("replay", &arguments->how, option, value, &status);
		return status;
	}
}

static const struct pp_cli_option option_table[] = {
    {"engine", "ENGINE", OPTION_ENGINE, "simulation (default), skeleton: real threads, or live"},
    {"order", "ORDER", OPTION_ORDER, "of a skeleton: free (default), locks, all: as recorded"},
    {"cpus", "LIST", OPTION_CPUS, "numbers of CPUs: 1..8, or 1,2,4 (default: as recorded)"},
    {"time", "A~B", OPTION_TIME, "only from A to B: 1~2, ~3us (default: the whole run)"},
    {"what-if", "CHANGE", OPTION_WHAT_IF, "and with a change: 'drop LOCK' (may be repeated)"},
    {"against", "DIR", OPTION_AGAINST, "compare with a recorded run of the changed program"},
    {"rank", NULL, OPTION_RANK, "changes of all locks that threads wait for, by gain"},
    {"check", NULL, OPTION_CHECK, "tell whether the model is complete"},
    {"cost", "NS", OPTION_COST, "of recording an operation (default: measured now)"},
    {"fair", NULL, OPTION_FAIR, "locks are handed over in the order of arrival"},
    {"runs", "N", OPTION_RUNS, "replays of each (default 10)"},
    {"allow-gaps", NULL, OPTION_GAPS, "replay what is known of an incomplete capture"},
    {"write", "FILE", OPTION_WRITE, "write the model to FILE, too"},
    {"format", "FORMAT", PP_CLI_TABLES_FORMAT, "text (default), json, csv, or html: a page"},
    {"table", "TABLE", PP_CLI_TABLES_TABLE, "csv: this table only"},
    {"output", "PATH", PP_CLI_TABLES_OUTPUT, "html: the file; csv: all, to PATH/*.csv"},
    PP_CLI_OPTION_WIDE,
    PP_CLI_OPTION_QUIET,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "replay",
    .letters = ":hq",
    .table = option_table,
    .usage = "replay [OPTION...] [DIR | MODEL] [-- CHANGED-COMMAND]",
    .take = take_option,
};

/* Options that only one of the engines has. */
static int check_engine(const struct pp_cli_replay_arguments *arguments)
{
	bool is_skeleton = arguments->engine == PP_CLI_REPLAY_SKELETON;

	if (is_skeleton && arguments->fair)
		return pp_cli_usage("replay", "--fair needs --engine=simulation");
	if (!is_skeleton && arguments->order != PP_SKELETON_FREE)
		return pp_cli_usage("replay", "--order=%s needs --engine=skeleton",
				    orders[arguments->order]);
	return PP_EXIT_GOOD;
}

/* Reports options that exclude each other. Returns PP_EXIT_GOOD if there are none. */
static int check_options(const struct pp_cli_replay_arguments *arguments)
{
	bool has_changes = arguments->changes->len != 0;

	if (arguments->check + arguments->rank + has_changes > 1)
		return pp_cli_usage("replay", "--check, --rank and --what-if exclude each other");
	if (arguments->against && arguments->command)
		return pp_cli_usage("replay", "--against and a command exclude each other");
	if ((arguments->against || arguments->command) && !has_changes)
		return pp_cli_usage("replay", "--against, or a command, needs --what-if");
	return pp_cli_tables_check("replay", &arguments->how, 1);
}

int pp_cli_replay_arguments_read(struct pp_cli_replay_arguments *arguments, int argc, char **argv)
{
	int n_behind = pp_cli_count_behind(argc, argv), status;

	*arguments = (struct pp_cli_replay_arguments){
	    .path = PP_DEFAULT_CAPTURE,
	    .changes = g_ptr_array_new_with_free_func((GDestroyNotify)pp_change_free),
	    .n_runs = PP_CLI_REPLAY_RUNS,
	    .cost_ns = -1};
	status = pp_cli_options_read(&options, argc, argv, arguments);
	if (status >= 0)
		return status;
	if (arguments->is_page)
		arguments->page = arguments->page ?: DEFAULT_PAGE;
	else
		arguments->how.dir = arguments->page;
	if (argc - n_behind - optind > 1)
		return pp_cli_usage("replay", "expected one capture or model");
	if (optind < argc - n_behind)
		arguments->path = argv[optind];
	if (n_behind)
		arguments->command = argv + argc - n_behind;
	status = check_engine(arguments);
	if (status == PP_EXIT_GOOD)
		status = check_options(arguments);
	return status == PP_EXIT_GOOD ? -1 : status;
}

void pp_cli_replay_arguments_done(struct pp_cli_replay_arguments *arguments)
{
	g_clear_pointer(&arguments->cpus, g_array_unref);
	g_ptr_array_unref(arguments->changes);
}
