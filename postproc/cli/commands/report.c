/* SPDX-License-Identifier: MIT */
/* gprof-mt report: tables of a capture, as text, JSON or CSV. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/replay/gains.h"
#include "cli/sections.h"
#include "cli/select.h"
#include "cli/tables.h"
#include "cli/view.h"
#include "table/group.h"
#include "table/top.h"

/* Those from OPTION_BY on choose a value; the second list is in the same order. */
enum {
	OPTION_GROUP = 0x300,
	OPTION_BOTTOM_UP,
	OPTION_GAIN,
	OPTION_BY,
	OPTION_METRIC,
	OPTION_CLOCK
};
enum { BY, METRIC, CLOCK, N_CHOICES };

/* An option with one of several values, for some sections; passes get it by its name. */
static const struct choice {
	const char *name, *values[5], *expected;
	const char *sections[3];
} choices[N_CHOICES] = {
    [BY] = {"by",
	    {"holder", "waiter", "suspect"},
	    "holder, waiter or suspect",
	    {"blame", "blame-tree"}},
    [METRIC] = {"metric",
		{"apwt", "cpwt", "aplt", "mean"},
		"apwt, cpwt, aplt or mean",
		{"bottlenecks"}},
    [CLOCK] = {"clock",
	       {"wall", "running", "conditionals"},
	       "wall, running or conditionals",
	       {"bottlenecks"}},
};

struct arguments {
	const char *dir;
	struct pp_cli_tables how;
	struct pp_selection *selection;
	GPtrArray *names;
	bool group, bottom_up, gain;
	/* By option, from OPTION_BY on; NULL: not chosen. */
	const char *choices[N_CHOICES];
};

/* Takes the value of an option that chooses a view of some sections. */
static int take_choice(struct arguments *arguments, unsigned which, const char *value)
{
	const struct choice *choice = &choices[which];

	if (!g_strv_contains(choice->values, value))
		return pp_cli_usage("report", "invalid --%s '%s' (expected %s)", choice->name,
				    value, choice->expected);
	arguments->choices[which] = value;
	return PP_EXIT_GOOD;
}

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	if (option >= OPTION_GROUP && option <= OPTION_GAIN) {
		*(option == OPTION_GROUP       ? &arguments->group
		  : option == OPTION_BOTTOM_UP ? &arguments->bottom_up
					       : &arguments->gain) = true;
		return PP_EXIT_GOOD;
	}
	if (option >= OPTION_BY && option <= OPTION_CLOCK)
		return take_choice(arguments, (unsigned)(option - OPTION_BY), value);
	if (!pp_cli_select_take("report", arguments->selection, option, value, &status) &&
	    !pp_cli_tables_take("report", &arguments->how, option, value, &status))
		arguments->dir = value;
	return status;
}

static const struct pp_cli_option option_table[] = {
    {"input", "DIR", 'i', "the capture"}, /* the help leaves no room for the default */
    {"gain", NULL, OPTION_GAIN, "predicted gains of locks"},
    {"top", "N", PP_CLI_TABLES_TOP, "the first N rows"},
    {"group", NULL, OPTION_GROUP, "similar threads as one row"},
    {"bottom-up", NULL, OPTION_BOTTOM_UP, "trees: from callees"},
    {"by", "VIEW", OPTION_BY, "holder, waiter or suspect"},
    {"metric", "apwt|cpwt|aplt|mean", OPTION_METRIC, "order"},
    {"clock", "wall|running|conditionals", OPTION_CLOCK, ""},
    PP_CLI_TABLES_OPTIONS,
    PP_CLI_OPTION_QUIET,
    PP_CLI_SELECT_OPTIONS,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "report",
    .letters = ":i:hq",
    .table = option_table,
    .usage = "report [OPTION...] [SECTION...]",
    .print_further = pp_cli_sections_help,
    .take = take_option,
};

/* Replaces tables of threads by tables of groups, which `owned` then owns. */
static void group_threads(GPtrArray *tables, GPtrArray *owned)
{
	for (guint i = 0; i < tables->len; i++) {
		struct pp_table *groups = pp_table_group(tables->pdata[i]);

		if (!groups)
			continue;
		tables->pdata[i] = groups;
		g_ptr_array_add(owned, groups);
	}
}

static void keep_top(const GPtrArray *tables, const struct pp_cli_tables *how)
{
	for (guint i = 0; i < tables->len; i++) {
		struct pp_table *table = tables->pdata[i];

		table->text_rows = 0;
		/* Its pass has limited the text. */
		if (how->top && (how->format != PP_CLI_TEXT || !table->text))
			pp_table_keep_top(table, how->top);
	}
}

static int print_tables(const struct pp_view *view, const struct arguments *arguments)
{
	g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	g_autoptr(GPtrArray) tables = pp_cli_sections_tables(view, arguments->names);

	if (arguments->group)
		group_threads(tables, owned);
	if (arguments->how.has_top)
		keep_top(tables, &arguments->how);
	if (arguments->gain)
		pp_cli_replay_add_gains(arguments->dir, arguments->selection,
					arguments->how.format == PP_CLI_TEXT, tables, owned);
	return pp_cli_tables_print(&arguments->how, (struct pp_table *const *)tables->pdata,
				   tables->len);
}

static int report(struct arguments *arguments)
{
	g_autoptr(GHashTable) pass_options = g_hash_table_new(g_str_hash, g_str_equal);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_view view;
	int ret, status, damage_status;

	if (arguments->bottom_up)
		g_hash_table_insert(pass_options, "bottom-up", "");
	for (unsigned i = 0; i < N_CHOICES; i++)
		if (arguments->choices[i])
			g_hash_table_insert(pass_options, (void *)choices[i].name,
					    (void *)arguments->choices[i]);
	ret = pp_view_open(&view, arguments->dir, pass_options, &err);
	if (ret == 0) {
		pp_view_select(&view, arguments->selection);
		pp_view_check_wrappers(&view);
		view.context.for_text =
		    arguments->how.format == PP_CLI_TEXT && !arguments->how.has_top;
		view.context.top = arguments->how.top;
		view.context.group = arguments->group;
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

static bool has_section(const struct arguments *arguments, const char *name)
{
	return g_ptr_array_find_with_equal_func(arguments->names, name, g_str_equal, NULL);
}

static bool has_gains(const struct arguments *arguments)
{
	for (guint i = 0; i < arguments->names->len; i++)
		if (pp_cli_replay_has_gains(arguments->names->pdata[i]))
			return true;
	return false;
}

static int check_choice(const struct arguments *arguments, unsigned which)
{
	const struct choice *choice = &choices[which];
	g_autofree char *names = NULL;

	if (!arguments->choices[which])
		return PP_EXIT_GOOD;
	for (unsigned i = 0; choice->sections[i]; i++)
		if (has_section(arguments, choice->sections[i]))
			return PP_EXIT_GOOD;
	names = g_strjoinv(" and ", (char **)choice->sections);
	return pp_cli_usage("report", "--%s is for section%s %s", choice->name,
			    choice->sections[1] ? "s" : "", names);
}

static int check(const struct arguments *arguments)
{
	int status = pp_cli_tables_check("report", &arguments->how, arguments->names->len);

	if (status == PP_EXIT_GOOD && arguments->bottom_up &&
	    !has_section(arguments, "blame-tree") && !has_section(arguments, "calltree"))
		status =
		    pp_cli_usage("report", "--bottom-up is for sections calltree and blame-tree");
	if (status == PP_EXIT_GOOD && arguments->gain && !has_gains(arguments))
		status = pp_cli_usage("report", "--gain is for sections blame and bottlenecks");
	if (status == PP_EXIT_GOOD && arguments->gain &&
	    g_strcmp0(arguments->choices[BY], "suspect") == 0)
		status = pp_cli_usage("report", "--gain and --by suspect exclude each other");
	for (unsigned i = 0; i < N_CHOICES && status == PP_EXIT_GOOD; i++)
		status = check_choice(arguments, i);
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
			status = check(&arguments);
		if (status == PP_EXIT_GOOD)
			status = report(&arguments);
	}
	pp_selection_free(arguments.selection);
	g_ptr_array_unref(arguments.names);
	return status;
}
