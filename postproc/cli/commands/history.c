/* SPDX-License-Identifier: MIT */
/*
 * gprof-mt history: prints the operations on each synchronization object in time order, or the
 * calls of a thread.
 *
 * It prints in parts, so that a long history takes little more memory than its records.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/replay.h"
#include "cli/select.h"
#include "cli/view.h"
#include "core/text/printable.h"
#include "table/flat.h"
#include "pass/history.h"
#include "analysis/state/object_row.h"
#include "render/render.h"

struct arguments {
	const char *dir;
	enum pp_cli_format format;
	bool calls;
	struct pp_selection *selection;
};

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	if (pp_cli_select_take("history", arguments->selection, option, value, &status))
		return status;
	switch (option) {
	case 'f':
		return pp_cli_take_format("history", value, &arguments->format);
	case 'c':
		arguments->calls = true;
		return PP_EXIT_GOOD;
	default:
		arguments->dir = value;
		return PP_EXIT_GOOD;
	}
}

static const struct pp_cli_option option_table[] = {
    PP_CLI_OPTION_INPUT,
    {"calls", NULL, 'c', "print the calls of one thread, as they nested"},
    PP_CLI_OPTION_FORMAT('f'),
    PP_CLI_SELECT_OPTIONS,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "history",
    .letters = ":i:h",
    .table = option_table,
    .usage = "history [OPTION...]\n"
	     "       gprof-mt history --calls --tid T | --thread NAME [OPTION...]",
    .take = take_option,
};

/* Checks that the options can be combined. */
static int check(const struct arguments *arguments)
{
	int status;

	if (!arguments->calls)
		return PP_EXIT_GOOD;
	status = pp_cli_select_one("history --calls", arguments->dir, arguments->selection);
	if (status != PP_EXIT_GOOD)
		return status;
	return pp_cli_select_refuse("history --calls", arguments->selection,
				    PP_SELECT_THREAD | PP_SELECT_TIME | PP_SELECT_FUNCTION);
}

/* --- printing ------------------------------------------------------------------------------- */

/* The number of operations in a table, and under one heading in text. */
#define PART 10000

static char *title_of(const struct pp_history *history, unsigned at)
{
	const struct pp_object *object = pp_history_object(history, at);
	g_autofree char *name = pp_printable(pp_history_name(history, at));
	const char *type = pp_sync_type_name(object->type);
	bool says_type = g_str_has_prefix(name, type);

	return g_strdup_printf("%s%s%s (0x%" PRIx64 ")", says_type ? "" : type,
			       says_type ? "" : " ", name, object->address);
}

static void append_text(GString *to, struct pp_history *history, unsigned at, unsigned first)
{
	g_autofree char *title = title_of(history, at);
	struct pp_table *table = pp_history_table(history, at, first, PART);

	if (at || first)
		g_string_append_c(to, '\n');
	table->title = title;
	pp_render_text(to, table, pp_cli_wants_colour());
	pp_table_free(table);
}

static const struct pp_column columns[PP_OBJECT_CELLS] = {PP_OBJECT_COLUMNS};

/* Appends the JSON object up to its operations: {"pid":1,...,"ops":[ */
static void append_object(GString *to, const struct pp_history *history, unsigned at)
{
	struct pp_table *table = pp_table_new("objects", "Objects", columns, PP_OBJECT_CELLS);

	pp_history_object_row(history, at, pp_table_add_row(table));
	pp_render_json_row(to, table, 0);
	g_string_truncate(to, to->len - 1);
	g_string_append(to, ",\"ops\":[");
	pp_table_free(table);
}

static void append_json(GString *to, struct pp_history *history, unsigned at, unsigned first)
{
	struct pp_table *table = pp_history_table(history, at, first, PART);

	if (first == 0) {
		g_string_append(to, at ? ",\n  " : "\n  ");
		append_object(to, history, at);
	}
	for (guint i = 0; i < table->rows->len; i++) {
		g_string_append(to, first || i ? ",\n   " : "\n   ");
		pp_render_json_row(to, table, i);
	}
	if (first + table->rows->len == pp_history_n_operations(history, at))
		g_string_append(to, "]}");
	pp_table_free(table);
}

static const struct pp_column with_operations[] = {
    PP_OBJECT_COLUMNS,
    [PP_OBJECT_CELLS] = {"ops", "operations", PP_TYPE_TABLE, 0, "operation on the object",
			 pp_history_columns, PP_N_HISTORY_COLUMNS},
};

static struct pp_table *objects_table(void)
{
	return pp_table_new("objects", "Objects", with_operations, G_N_ELEMENTS(with_operations));
}

/* The object's row with these operations, whose ownership it takes. */
static struct pp_table *object_table(const struct pp_history *history, unsigned at,
				     struct pp_table *operations)
{
	struct pp_table *table = objects_table();
	struct pp_cell *row = pp_table_add_row(table);

	pp_history_object_row(history, at, row);
	pp_cell_set_table(&row[PP_OBJECT_CELLS], operations);
	return table;
}

static void append_csv_head(GString *to)
{
	struct pp_table *objects = objects_table();
	struct pp_table *operations = pp_table_nested(objects, PP_OBJECT_CELLS);

	pp_render_csv_head(to, operations);
	pp_table_free(operations);
	pp_table_free(objects);
}

/* A single table of all operations, object by object. */
static void append_csv(GString *to, struct pp_history *history, unsigned at, unsigned first)
{
	struct pp_table *object =
	    object_table(history, at, pp_history_table(history, at, first, PART));
	struct pp_table *operations = pp_table_nested(object, PP_OBJECT_CELLS);

	for (guint i = 0; i < operations->rows->len; i++)
		pp_cell_set_count(operations->rows->pdata[i], at + 1);
	pp_render_csv_rows(to, operations);
	pp_table_free(operations);
	pp_table_free(object);
}

static int print_object(struct pp_history *history, unsigned at, enum pp_cli_format format)
{
	static void (*const append[])(GString *, struct pp_history *, unsigned, unsigned) = {
	    [PP_CLI_TEXT] = append_text,
	    [PP_CLI_JSON] = append_json,
	    [PP_CLI_CSV] = append_csv,
	};
	unsigned n = pp_history_n_operations(history, at);
	int status = PP_EXIT_GOOD;

	for (unsigned first = 0; first < n && status == PP_EXIT_GOOD; first += PART) {
		g_autoptr(GString) text = g_string_new(NULL);

		append[format](text, history, at, first);
		status = pp_cli_print(text);
	}
	return status;
}

static int print_history(struct pp_history *history, enum pp_cli_format format)
{
	bool json = format == PP_CLI_JSON;
	g_autoptr(GString) head = g_string_new(json ? "{\n \"schema\": 1,\n \"objects\": [" : NULL);
	g_autoptr(GString) tail = g_string_new(json ? "\n ]\n}\n" : NULL);
	int status;

	if (format == PP_CLI_CSV)
		append_csv_head(head);
	status = pp_cli_print(head);
	for (unsigned i = 0; i < pp_history_n_objects(history) && status == PP_EXIT_GOOD; i++)
		status = print_object(history, i, format);
	return status == PP_EXIT_GOOD ? pp_cli_print(tail) : status;
}

/* -------------------------------------------------------------------------------------------- */

static void take_event(void *history, const struct pp_event *event)
{
	pp_history_event(history, event);
}

static int check_found(const struct pp_view *view, const struct pp_history *history,
		       struct pp_error *err)
{
	int ret = pp_cli_select_check(view, PP_SELECT_ALL, err);

	if (ret < 0 || pp_history_n_objects(history))
		return ret;
	if (view->context.selection)
		return pp_error_add(err, -ENOENT, "%s: the selection contains no operation",
				    view->capture->model->dir);
	return pp_error_add(err, -ENODATA, "%s: no synchronization was recorded",
			    view->capture->model->dir);
}

static int history(const struct arguments *arguments)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_history *kept = NULL;
	struct pp_view view;
	int ret, status, damaged;

	ret = pp_view_open(&view, arguments->dir, NULL, &err);
	if (ret == 0) {
		pp_view_select(&view, arguments->selection);
		kept = pp_history_new(&view.context);
		ret = pp_view_read(&view, PP_HISTORY_KINDS, take_event, kept, &err);
	}
	if (ret == 0) {
		pp_history_finish(kept, view.capture->model->end_ns);
		ret = check_found(&view, kept, &err);
	}
	if (ret < 0) {
		status = pp_cli_fail(&err);
	} else {
		status = print_history(kept, arguments->format);
		damaged = pp_view_print_damage(&view);
		status = MAX(status, damaged);
	}
	pp_history_free(kept);
	pp_view_done(&view);
	return status;
}

static int run(const struct arguments *arguments)
{
	int status = check(arguments);

	if (status != PP_EXIT_GOOD)
		return status;
	return arguments->calls
		   ? pp_cli_replay(arguments->dir, arguments->selection, arguments->format)
		   : history(arguments);
}

int pp_cmd_history(int argc, char **argv)
{
	struct arguments arguments = {.dir = PP_DEFAULT_CAPTURE, .selection = pp_selection_new()};
	int status = pp_cli_options_read(&options, argc, argv, &arguments);

	if (status < 0 && optind < argc)
		status = pp_cli_usage("history", "unexpected argument '%s'", argv[optind]);
	if (status < 0)
		status = run(&arguments);
	pp_selection_free(arguments.selection);
	return status;
}
