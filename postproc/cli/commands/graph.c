/* SPDX-License-Identifier: MIT */
/* gprof-mt graph: prints a capture as a graph, in DOT, SVG, JSON or CSV. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/select.h"
#include "cli/tables.h"
#include "cli/view.h"
#include "core/text/write.h"
#include "render/dot.h"

/* By default, larger graphs are drawn with groups of nodes, and light arrows are left out. */
#define MAX_SINGLE_NODES 24
#define MAX_ARROWS	 200

enum format { DOT, SVG, JSON, CSV };

struct kind {
	const char *name, *summary;
	const char *pass; /* the first two tables of this pass are the nodes and the edges */
	const struct pp_dot_kind *dot;
	/*
	 * Checks that the capture has the data for this kind, since an empty graph would be
	 * misleading.
	 */
	int (*check)(const struct pp_view *view, struct pp_error *err);
};

struct arguments {
	const char *dir;
	const struct kind *kind;
	enum format format;
	struct pp_cli_tables how; /* for JSON and CSV */
	bool through_idle, group, no_group, has_top;
	uint64_t min_count;
	unsigned top;
	struct pp_selection *selection;
};

/* --- kinds ---------------------------------------------------------------------------------- */

static int check_switches(const struct pp_view *view, struct pp_error *err)
{
	const char *dir = view->capture->model->dir;

	if (!view->context.has_kernel)
		return pp_error_add(err, -ENODATA,
				    "%s: no scheduling events in this capture, so it is unknown "
				    "which thread ran next; see `gprof-mt doctor`",
				    dir);
	if (!view->context.has_switch_pairs)
		return pp_error_add(err, -ENODATA,
				    "%s: its scheduling events do not say which thread ran next; "
				    "tracepoints do, see `gprof-mt doctor`",
				    dir);
	return 0;
}

static int check_calls(const struct pp_view *view, struct pp_error *err)
{
	const struct pp_model *model = view->capture->model;

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		if (thread->arcs && thread->arcs->len)
			return 0;
	}
	return pp_error_add(err, -ENODATA,
			    "%s: no calls were counted: the program was not built with -pg, or "
			    "counting was off",
			    model->dir);
}

/* Requires synch-events, or at least the library that would have recorded them. */
static int check_sync(const struct pp_view *view, struct pp_error *err)
{
	const struct pp_model *model = view->capture->model;

	for (guint i = 0; i < model->processes->len; i++)
		if (((const struct pp_process *)model->processes->pdata[i])->has_streams)
			return 0;
	for (guint i = 0; i < model->threads->len; i++)
		if (((const struct pp_thread *)model->threads->pdata[i])->in_ust)
			return 0;
	return pp_error_add(
	    err, -ENODATA,
	    "%s: no synchronization events in this capture, so waits and holds are unknown",
	    model->dir);
}

/* Also requires that holds are known. */
static int check_holds(const struct pp_view *view, struct pp_error *err)
{
	const struct pp_model *model = view->capture->model;
	int ret = check_sync(view, err);

	for (guint i = 0; ret == 0 && i < model->processes->len; i++)
		if (!((const struct pp_process *)model->processes->pdata[i])->no_holds)
			return 0;
	if (ret < 0)
		return ret;
	return pp_error_add(err, -ENODATA,
			    "%s: recorded with sync.mode = contended, so holds are unknown",
			    model->dir);
}

static const struct kind kinds[] = {
    {"switch", "A -> B: how often B ran next on the CPU that A left", "switches", &pp_dot_switch,
     check_switches},
    {"calls", "A -> B: how often A called B, in all threads or those of --tid", "calls",
     &pp_dot_calls, check_calls},
    {"wait", "A -> B: how long and how often A waited for B, on what", "wait", &pp_dot_wait,
     check_sync},
    {"precedence", "A -> B: how often A happened before B, by synchronization", "precedence",
     &pp_dot_precedence, check_sync},
    {"lock-order", "A -> B: how often B was requested while A was held; cycles", "lock-order",
     &pp_dot_lock_order, check_holds},
    {"sydg", "A -> B: how long critical section B waited for A", "sydg", &pp_dot_sydg, check_sync},
};

/* "switch, calls or wait".  The caller frees the text. */
static char *kinds_text(void)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
		g_string_append_printf(text, "%s%s",
				       i == 0			      ? ""
				       : i + 1 == G_N_ELEMENTS(kinds) ? " or "
								      : ", ",
				       kinds[i].name);
	return g_string_free(text, FALSE);
}

/* --- options -------------------------------------------------------------------------------- */

static void print_kinds(void)
{
	printf("kinds:\n");
	for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
		printf("  %-10s  %s\n", kinds[i].name, kinds[i].summary);
}

static int take_kind(struct arguments *arguments, const char *text)
{
	g_autofree char *names = kinds_text();

	for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (strcmp(text, kinds[i].name) == 0) {
			arguments->kind = &kinds[i];
			return PP_EXIT_GOOD;
		}
	return pp_cli_usage("graph", "invalid --kind '%s' (expected %s)", text, names);
}

static int take_format(struct arguments *arguments, const char *text)
{
	static const char *const names[] = {
	    [DOT] = "dot", [SVG] = "svg", [JSON] = "json", [CSV] = "csv"};

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
		if (strcmp(text, names[i]) == 0) {
			arguments->format = i;
			arguments->how.format = i == CSV ? PP_CLI_CSV : PP_CLI_JSON;
			return PP_EXIT_GOOD;
		}
	return pp_cli_usage("graph", "invalid --format '%s' (expected dot, svg, json or csv)",
			    text);
}

static int take_number(const char *option, const char *text, uint64_t most, uint64_t *ret)
{
	if (!g_ascii_string_to_unsigned(text, 10, 0, most, ret, NULL))
		return pp_cli_usage("graph", "%s %s: not a number", option, text);
	return PP_EXIT_GOOD;
}

static int take_top(struct arguments *arguments, const char *text)
{
	uint64_t top = 0;
	int status = take_number("--top", text, UINT_MAX, &top);

	arguments->top = (unsigned)top;
	arguments->has_top = true;
	return status;
}

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	if (pp_cli_select_take("graph", arguments->selection, option, value, &status))
		return status;
	if (option != PP_CLI_TABLES_FORMAT &&
	    pp_cli_tables_take("graph", &arguments->how, option, value, &status))
		return status;
	switch (option) {
	case 'i':
		arguments->dir = value;
		break;
	case 'k':
		return take_kind(arguments, value);
	case PP_CLI_TABLES_FORMAT:
		return take_format(arguments, value);
	case 'm':
		return take_number("--min-count", value, UINT64_MAX, &arguments->min_count);
	case 'o':
		return take_top(arguments, value);
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

static unsigned heeded(const struct arguments *arguments)
{
	return pp_pass_find(arguments->kind->pass)->selects;
}

/* Returns -1 to continue, else the exit status. */
static int check(const struct arguments *arguments, int argc, char **argv)
{
	g_autofree char *names = kinds_text();
	int status;

	if (optind < argc)
		return pp_cli_usage("graph", "unexpected argument '%s'", argv[optind]);
	if (!arguments->kind)
		return pp_cli_usage("graph", "no --kind (expected %s)", names);
	if (arguments->group && arguments->no_group)
		return pp_cli_usage("graph", "--group and --no-group exclude each other");
	status = pp_cli_tables_check("graph", &arguments->how, 1);
	if (status == PP_EXIT_GOOD)
		status = pp_cli_select_refuse("graph", arguments->selection, heeded(arguments));
	return status == PP_EXIT_GOOD ? -1 : status;
}

static const struct pp_cli_option option_table[] = {
    PP_CLI_OPTION_INPUT,
    {"kind", "KIND", 'k', "what to draw; see below"},
    {"format", "FORMAT", PP_CLI_TABLES_FORMAT, "dot (default), svg (needs graphviz), json or csv"},
    {"table", "TABLE", PP_CLI_TABLES_TABLE,
     "csv: edges (default), nodes, or another table of json"},
    PP_CLI_TABLES_OPTION_OUTPUT,
    PP_CLI_SELECT_THREADS,
    {"time", "A~B", PP_CLI_SELECT_TIME, "switch, sydg: only from A to B: 1.5~2 (s), 20ms~, ~3us"},
    PP_CLI_SELECT_NO_OPERATIONS,
    {"min-count", "N", 'm', "leave out arrows of less than N"},
    {"top", "N", 'o',
     "the N thickest (default " G_STRINGIFY(MAX_ARROWS) " if drawn, else all); 0: all"},
    {"group", NULL, 'g', "draw similar nodes as one (threads of one start routine)"},
    {"no-group", NULL, 'n',
     "draw each node (default up to " G_STRINGIFY(MAX_SINGLE_NODES) " of them)"},
    {"through-idle", NULL, 't', "switch: skip idle time and other programs"},
    PP_CLI_OPTION_QUIET,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "graph",
    .letters = ":i:hq",
    .table = option_table,
    .usage = "graph [-i DIR] --kind KIND [--format FORMAT] [OPTION...]",
    .print_further = print_kinds,
    .take = take_option,
};

/* --- SVG ------------------------------------------------------------------------------------ */

/* Runs in the child: its standard input is the DOT text. */
static void take_stdin(void *fd)
{
	dup2(GPOINTER_TO_INT(fd), STDIN_FILENO);
}

/* A file in memory that contains the text; -errno on failure. */
static int memory_file(const GString *text)
{
	int fd = memfd_create("graph", MFD_CLOEXEC);
	int rc = fd < 0 ? -errno : pp_write_all(fd, text->str, text->len);

	if (rc == 0)
		lseek(fd, 0, SEEK_SET);
	else if (fd >= 0)
		close(fd);
	return rc ?: fd;
}

/* Runs Graphviz.  On success, `svg` is its whole output; else it is unchanged. */
static int draw(const GString *dot, GString *svg, struct pp_error *err)
{
	g_autofree char *program = g_find_program_in_path("dot");
	char *argv[] = {program, "-Tsvg", NULL};
	g_autofree char *out = NULL;
	GError *failure = NULL;
	int fd, status = 0;

	if (!program)
		return pp_error_add(err, -ENOENT,
				    "--format svg needs the program dot: install graphviz (apt-get "
				    "install graphviz), or use --format dot");
	fd = memory_file(dot);
	if (fd < 0)
		return pp_error_add(err, fd, "the graph for dot: %s", g_strerror(-fd));
	if (g_spawn_sync(NULL, argv, NULL, G_SPAWN_CHILD_INHERITS_STDIN, take_stdin,
			 GINT_TO_POINTER(fd), &out, NULL, &status, &failure))
		g_spawn_check_wait_status(status, &failure);
	close(fd);
	if (failure) {
		pp_error_add(err, -EIO, "%s -Tsvg: %s", program, failure->message);
		g_error_free(failure);
		return -EIO;
	}
	g_string_append(svg, out);
	return 0;
}

static int print_svg(const GString *dot)
{
	struct pp_error err = PP_ERROR_INIT;
	GString *svg = g_string_new(NULL);
	int status = draw(dot, svg, &err) < 0 ? pp_cli_fail(&err) : pp_cli_print(svg);

	g_string_free(svg, TRUE);
	return status;
}

/* -------------------------------------------------------------------------------------------- */

static int print_graph(const struct arguments *arguments, struct pp_table **tables,
		       unsigned n_tables)
{
	const struct pp_dot_kind *kind = arguments->kind->dot;
	struct pp_table *nodes = tables[0], *edges = tables[1];
	bool as_tables = arguments->format == JSON || arguments->format == CSV;
	struct pp_cli_tables how = arguments->how;
	struct pp_dot_options dot_options = {
	    .min_count = arguments->min_count,
	    .top = arguments->has_top || as_tables ? arguments->top : MAX_ARROWS,
	    .grouped =
		arguments->group || (!arguments->no_group && nodes->rows->len > MAX_SINGLE_NODES),
	};
	GString *text;
	int status;

	if (as_tables) {
		pp_dot_leave_out(edges, kind, &dot_options);
		if (!how.key && !how.dir)
			how.key = edges->key;
		return pp_cli_tables_print(&how, tables, n_tables);
	}
	text = g_string_new(NULL);
	pp_render_dot(text, kind, nodes, edges, &dot_options);
	status = arguments->format == SVG ? print_svg(text) : pp_cli_print(text);
	g_string_free(text, TRUE);
	return status;
}

static int graph(const struct arguments *arguments)
{
	struct pp_error err = PP_ERROR_INIT;
	GHashTable *pass_options = g_hash_table_new(g_str_hash, g_str_equal);
	struct pp_table **tables;
	struct pp_view view;
	int ret, status, damaged;
	unsigned n;

	if (arguments->through_idle)
		g_hash_table_insert(pass_options, "through-idle", "");
	ret = pp_view_open(&view, arguments->dir, pass_options, &err);
	if (ret == 0) {
		pp_view_select(&view, arguments->selection);
		ret = pp_view_run(&view, &arguments->kind->pass, 1, &err);
	}
	if (ret == 0)
		ret = arguments->kind->check(&view, &err);
	if (ret == 0)
		ret = pp_cli_select_check(&view, heeded(arguments), &err);
	if (ret < 0) {
		status = pp_cli_fail(&err);
	} else {
		tables = pp_pass_set_tables(view.passes, arguments->kind->pass, &n);
		status = print_graph(arguments, tables, n);
		damaged = pp_view_print_damage(&view);
		status = MAX(status, damaged);
	}
	pp_view_done(&view);
	g_hash_table_unref(pass_options);
	return status;
}

int pp_cmd_graph(int argc, char **argv)
{
	struct arguments arguments = {
	    .dir = PP_DEFAULT_CAPTURE, .format = DOT, .selection = pp_selection_new()};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status < 0)
		status = check(&arguments, argc, argv);
	if (status < 0)
		status = graph(&arguments);
	pp_selection_free(arguments.selection);
	return status;
}
