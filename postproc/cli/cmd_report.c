/* SPDX-License-Identifier: MIT */
/* gprof-mt report: tables of a capture, as text or JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/select.h"
#include "cli/view.h"
#include "render/render.h"

struct arguments {
	const char *dir;
	bool json;
	struct pp_selection *selection;
	GPtrArray *names;
};

static void print_help(void)
{
	printf(
	    "usage: gprof-mt report [OPTION...] [SECTION...]\n\n"
	    "  -i, --input DIR    the capture (default %s)\n"
	    "  --format FORMAT    text (default) or json\n" PP_CLI_SELECT_HELP PP_CLI_HELP_SYMBOLS
	    "\n"
	    "sections (* by default):\n",
	    PP_DEFAULT_CAPTURE);
	for (unsigned i = 0; pp_passes[i]; i++)
		if (pp_passes[i]->summary)
			printf("%c %-13s %s\n", pp_passes[i]->is_default ? '*' : ' ',
			       pp_passes[i]->name, pp_passes[i]->summary);
}

static bool is_section(const char *name)
{
	const struct pp_pass *pass = pp_pass_find(name);

	return pass && pass->summary;
}

/* -1: go on; else the exit status. */
static int take_sections(struct arguments *arguments, char **names, int n_names)
{
	for (int i = 0; i < n_names; i++) {
		if (!is_section(names[i]))
			return pp_cli_usage("report", "no section '%s'", names[i]);
		if (!g_ptr_array_find_with_equal_func(arguments->names, names[i], g_str_equal,
						      NULL))
			g_ptr_array_add(arguments->names, names[i]);
	}
	for (unsigned i = 0; n_names == 0 && pp_passes[i]; i++)
		if (pp_passes[i]->is_default)
			g_ptr_array_add(arguments->names, (char *)pp_passes[i]->name);
	return -1;
}

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	if (pp_cli_select_take("report", arguments->selection, option, value, &status))
		return status;
	switch (option) {
	case 'f':
		return pp_cli_take_format("report", value, &arguments->json);
	default:
		arguments->dir = value;
		return PP_EXIT_GOOD;
	}
}

static const struct option option_table[] = {
    {"input", required_argument, NULL, 'i'},
    {"format", required_argument, NULL, 'f'},
    PP_CLI_SELECT_OPTIONS,
    PP_CLI_OPTIONS_SYMBOLS,
    PP_CLI_OPTIONS_END,
};

static const struct pp_cli_options options = {"report", ":i:h", option_table, print_help,
					      take_option};

static GPtrArray *collect_tables(const struct pp_view *view, const struct arguments *arguments)
{
	GPtrArray *tables = g_ptr_array_new();

	for (guint i = 0; i < arguments->names->len; i++) {
		unsigned n = 0;
		struct pp_table **found =
		    pp_pass_set_tables(view->passes, arguments->names->pdata[i], &n);

		for (unsigned t = 0; t < n; t++)
			g_ptr_array_add(tables, found[t]);
	}
	return tables;
}

static int print_tables(const struct pp_view *view, const struct arguments *arguments)
{
	GPtrArray *tables = collect_tables(view, arguments);
	GString *text = g_string_new(NULL);
	bool colour = pp_cli_wants_colour();
	int status;

	if (arguments->json)
		pp_render_json(text, (struct pp_table *const *)tables->pdata, tables->len);
	for (guint i = 0; !arguments->json && i < tables->len; i++) {
		if (i)
			g_string_append_c(text, '\n');
		pp_render_text(text, tables->pdata[i], colour);
	}
	status = pp_cli_print(text);
	g_string_free(text, TRUE);
	g_ptr_array_unref(tables);
	return status;
}

/* What of a selection any of the sections heeds. */
static unsigned heeded(const struct arguments *arguments)
{
	unsigned by = 0;

	for (guint i = 0; i < arguments->names->len; i++)
		by |= pp_pass_find(arguments->names->pdata[i])->selects;
	return by;
}

static int report(struct arguments *arguments)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_view view;
	int ret, status, damage_status;

	ret = pp_view_open(&view, arguments->dir, NULL, &err);
	if (ret == 0) {
		pp_view_select(&view, arguments->selection);
		ret = pp_view_run(&view, (const char *const *)arguments->names->pdata,
				  arguments->names->len, &err);
	}
	if (ret == 0)
		ret = pp_cli_select_check(&view, heeded(arguments), &err);
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

	if (status < 0)
		status = take_sections(&arguments, argv + optind, argc - optind);
	if (status < 0)
		status = report(&arguments);
	pp_selection_free(arguments.selection);
	g_ptr_array_unref(arguments.names);
	return status;
}
