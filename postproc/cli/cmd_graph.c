/* SPDX-License-Identifier: MIT */
/* gprof-mt graph: a capture as a graph, in DOT, SVG or JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/view.h"
#include "render/dot.h"
#include "render/render.h"

/* More threads than these are drawn in groups, unless asked otherwise. */
#define MAX_SINGLE_THREADS 24u

enum format { DOT, SVG, JSON };

struct arguments {
	const char *dir, *kind;
	enum format format;
	bool through_idle, group, no_group;
	uint64_t min_count;
};

static void print_help(void)
{
	printf(
	    "usage: gprof-mt graph [-i DIR] --kind switch [--format dot|svg|json] [OPTION...]\n\n"
	    "  -i, --input DIR    the capture (default %s)\n"
	    "  --kind switch      A -> B: how often B ran next on the CPU that A left\n"
	    "  --format FORMAT    dot (default), svg (needs graphviz) or json\n" PP_CLI_HELP_SYMBOLS
	    "  --through-idle     look through idle time and other programs in between\n"
	    "  --min-count N      leave out arrows of less than N\n"
	    "  --group            draw threads of one start routine or name as one\n"
	    "  --no-group         draw each thread (default up to %u of them)\n",
	    PP_DEFAULT_CAPTURE, MAX_SINGLE_THREADS);
}

static int take_format(struct arguments *arguments, const char *text)
{
	static const char *const names[] = {[DOT] = "dot", [SVG] = "svg", [JSON] = "json"};

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
		if (strcmp(text, names[i]) == 0) {
			arguments->format = i;
			return PP_EXIT_GOOD;
		}
	return pp_cli_usage("graph", "--format %s: it is dot, svg or json", text);
}

static int take_min_count(struct arguments *arguments, const char *text)
{
	if (!g_ascii_string_to_unsigned(text, 10, 0, UINT64_MAX, &arguments->min_count, NULL))
		return pp_cli_usage("graph", "--min-count %s: not a number", text);
	return PP_EXIT_GOOD;
}

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;

	switch (option) {
	case 'i':
		arguments->dir = value;
		break;
	case 'k':
		arguments->kind = value;
		break;
	case 'f':
		return take_format(arguments, value);
	case 'm':
		return take_min_count(arguments, value);
	case 't':
		arguments->through_idle = true;
		break;
	case 'g':
		arguments->group = true;
		break;
	case 'n':
		arguments->no_group = true;
		break;
	}
	return PP_EXIT_GOOD;
}

/* -1: go on; else the exit status. */
static int check(const struct arguments *arguments, int argc, char **argv)
{
	if (optind < argc)
		return pp_cli_usage("graph", "'%s': it takes options only", argv[optind]);
	if (!arguments->kind)
		return pp_cli_usage("graph", "no --kind");
	if (strcmp(arguments->kind, "switch") != 0)
		return pp_cli_usage("graph", "--kind %s: it is switch", arguments->kind);
	if (arguments->group && arguments->no_group)
		return pp_cli_usage("graph", "--group and --no-group exclude each other");
	return -1;
}

static const struct option option_table[] = {
    {"input", required_argument, NULL, 'i'},
    {"kind", required_argument, NULL, 'k'},
    {"format", required_argument, NULL, 'f'},
    {"min-count", required_argument, NULL, 'm'},
    {"through-idle", no_argument, NULL, 't'},
    {"group", no_argument, NULL, 'g'},
    {"no-group", no_argument, NULL, 'n'},
    PP_CLI_OPTIONS_SYMBOLS,
    PP_CLI_OPTIONS_END,
};

static const struct pp_cli_options options = {"graph", ":i:h", option_table, print_help,
					      take_option};

/* Draws `dot`, to stdout. */
static int draw(const GString *dot)
{
	struct pp_error err = PP_ERROR_INIT;
	g_autofree char *program = g_find_program_in_path("dot");
	FILE *pipe;

	if (!program) {
		pp_error_add(&err, -ENOENT,
			     "--format svg needs the program dot: install graphviz "
			     "(apt-get install graphviz), or take --format dot");
		return pp_cli_fail(&err);
	}
	pipe = popen("dot -Tsvg", "w");
	if (!pipe) {
		pp_error_add(&err, -errno, "dot: %s", g_strerror(errno));
		return pp_cli_fail(&err);
	}
	fwrite(dot->str, 1, dot->len, pipe);
	if (pclose(pipe) != 0) {
		pp_error_add(&err, -EIO, "dot -Tsvg failed: see its message above");
		return pp_cli_fail(&err);
	}
	return PP_EXIT_GOOD;
}

static void drop_thin_edges(struct pp_table *edges, uint64_t min_count)
{
	int column = pp_table_column(edges, "count");
	uint64_t n = 0, switches = 0;

	for (guint r = edges->rows->len; r-- > 0;) {
		const struct pp_cell *row = edges->rows->pdata[r];

		if (row[column].count >= min_count)
			continue;
		n++;
		switches += row[column].count;
		pp_table_remove_row(edges, r);
	}
	if (n)
		pp_table_note(edges,
			      "left out: %" G_GUINT64_FORMAT
			      " edges of less than %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT
			      " switches in all",
			      n, min_count, switches);
}

static int print_graph(const struct arguments *arguments, struct pp_table **tables)
{
	struct pp_table *nodes = tables[0], *edges = tables[1];
	struct pp_dot_options dot_options = {
	    .min_count = arguments->min_count,
	    .grouped =
		arguments->group || (!arguments->no_group && nodes->rows->len > MAX_SINGLE_THREADS),
	};
	GString *text = g_string_new(NULL);
	int status;

	if (arguments->format == JSON) {
		drop_thin_edges(edges, arguments->min_count);
		pp_render_json(text, tables, 2);
	} else {
		pp_render_dot(text, nodes, edges, &dot_options);
	}
	status = arguments->format == SVG ? draw(text) : pp_cli_print(text);
	g_string_free(text, TRUE);
	return status;
}

/* A graph of nothing would look like an answer. */
static int check_source(const struct pp_view *view, struct pp_error *err)
{
	const char *dir = view->capture->model->dir;

	if (!view->context.has_kernel)
		return pp_error_add(err, -ENODATA,
				    "%s: no scheduling events in this capture, so nobody knows "
				    "which thread ran next; see `gprof-mt doctor`",
				    dir);
	if (!view->context.has_switch_pairs)
		return pp_error_add(err, -ENODATA,
				    "%s: its scheduling events do not say which thread ran next; "
				    "tracepoints do, see `gprof-mt doctor`",
				    dir);
	return 0;
}

static int graph(const struct arguments *arguments)
{
	static const char *const names[] = {"switches"};
	struct pp_error err = PP_ERROR_INIT;
	GHashTable *pass_options = g_hash_table_new(g_str_hash, g_str_equal);
	struct pp_view view;
	int ret, status, damaged;
	unsigned n;

	if (arguments->through_idle)
		g_hash_table_insert(pass_options, "through-idle", "");
	ret = pp_view_open(&view, arguments->dir, pass_options, &err);
	if (ret == 0)
		ret = check_source(&view, &err);
	if (ret == 0)
		ret = pp_view_run(&view, names, G_N_ELEMENTS(names), &err);
	if (ret < 0) {
		status = pp_cli_fail(&err);
	} else {
		status = print_graph(arguments, pp_pass_set_tables(view.passes, "switches", &n));
		damaged = pp_view_print_damage(&view);
		status = MAX(status, damaged);
	}
	pp_view_done(&view);
	g_hash_table_unref(pass_options);
	return status;
}

int pp_cmd_graph(int argc, char **argv)
{
	struct arguments arguments = {.dir = PP_DEFAULT_CAPTURE, .format = DOT};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status < 0)
		status = check(&arguments, argc, argv);
	return status < 0 ? graph(&arguments) : status;
}
