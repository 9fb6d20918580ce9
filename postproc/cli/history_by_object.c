/* SPDX-License-Identifier: MIT */
/* Prints object by object, in parts, to bound the memory for output. */
#include "cli/history.h"

#include <errno.h>
#include <inttypes.h>

#include "analysis/state/object_row.h"
#include "cli/commands.h"
#include "cli/select.h"
#include "cli/terminal.h"
#include "core/text/printable.h"
#include "pass/history_by_object.h"
#include "render/render.h"
#include "table/flat.h"

/* The number of operations in a table, and under one heading in text. */
#define PART 10000

struct printer {
	struct pp_view *view;
	struct pp_history_by_object *history;
	const struct pp_object *object;
	unsigned n_objects; /* so far, this one included */
	int status;
};

/* --- text ----------------------------------------------------------------------------------- */

static char *title_of(const struct printer *printer)
{
	const struct pp_object *object = printer->object;
	g_autofree char *name = pp_printable(pp_object_name(object, printer->view->context.namer));
	const char *type = pp_sync_type_name(object->type);
	bool says_type = g_str_has_prefix(name, type);

	return g_strdup_printf("%s%s%s (0x%" PRIx64 ")", says_type ? "" : type,
			       says_type ? "" : " ", name, object->address);
}

static void append_text(GString *to, const struct printer *printer, struct pp_table *table,
			bool is_first)
{
	struct pp_text_style style = pp_cli_text_style();
	g_autofree char *title = title_of(printer);

	style.omits_silently = printer->n_objects > 1 || !is_first;
	if (printer->n_objects > 1 || !is_first)
		g_string_append_c(to, '\n');
	table->title = title;
	pp_render_text(to, table, &style);
	pp_table_free(table);
}

/* --- JSON ----------------------------------------------------------------------------------- */

/* Appends the JSON object up to its operations: {"pid":1,...,"ops":[ */
static void append_object(GString *to, const struct printer *printer)
{
	static const struct pp_column columns[PP_OBJECT_CELLS] = {PP_OBJECT_COLUMNS};
	struct pp_table *table = pp_table_new("objects", "Objects", columns, PP_OBJECT_CELLS);

	pp_object_row(pp_table_add_row(table), printer->object, printer->view->context.namer);
	pp_render_json_row(to, table, 0);
	g_string_truncate(to, to->len - 1);
	g_string_append(to, ",\"ops\":[");
	pp_table_free(table);
}

static void append_json(GString *to, const struct printer *printer, struct pp_table *table,
			bool is_first)
{
	if (is_first) {
		g_string_append(to, printer->n_objects == 1
					? "{\n \"schema\": 1,\n \"objects\": [\n  "
					: "]},\n  ");
		append_object(to, printer);
	}
	for (guint i = 0; i < table->rows->len; i++) {
		g_string_append(to, is_first && !i ? "\n   " : ",\n   ");
		pp_render_json_row(to, table, i);
	}
	pp_table_free(table);
}

/* --- CSV ------------------------------------------------------------------------------------ */

static const struct pp_column with_operations[] = {
    PP_OBJECT_COLUMNS,
    [PP_OBJECT_CELLS] = {"ops", "operations", PP_TYPE_TABLE, 0, "operation on the object",
			 pp_history_columns, PP_N_HISTORY_COLUMNS},
};

/* A single table of all operations, with the object in each row. */
void pp_cli_history_append_csv(GString *to, const struct pp_view *view, uint64_t number,
			       const struct pp_object *object, struct pp_table *operations,
			       bool is_first)
{
	struct pp_table *table =
	    pp_table_new("objects", "Objects", with_operations, G_N_ELEMENTS(with_operations));
	struct pp_cell *row = pp_table_add_row(table);
	struct pp_table *flat;

	pp_object_row(row, object, view->context.namer);
	pp_cell_set_table(&row[PP_OBJECT_CELLS], operations);
	flat = pp_table_nested(table, PP_OBJECT_CELLS);
	for (guint i = 0; i < flat->rows->len; i++)
		pp_cell_set_count(flat->rows->pdata[i], number);
	if (is_first)
		pp_render_csv_head(to, flat);
	pp_render_csv_rows(to, flat);
	pp_table_free(flat);
	pp_table_free(table);
}

static void append_csv(GString *to, const struct printer *printer, struct pp_table *table,
		       bool is_first)
{
	pp_cli_history_append_csv(to, printer->view, printer->n_objects, printer->object, table,
				  is_first && printer->n_objects == 1);
}

/* -------------------------------------------------------------------------------------------- */

static void print_operations(struct printer *printer, enum pp_cli_format format)
{
	static void (*const append[])(GString *, const struct printer *, struct pp_table *,
				      bool) = {
	    [PP_CLI_TEXT] = append_text,
	    [PP_CLI_JSON] = append_json,
	    [PP_CLI_CSV] = append_csv,
	};
	struct pp_table *table;

	for (bool is_first = true; printer->status == PP_EXIT_GOOD &&
				   (table = pp_history_next_operations(printer->history, PART));
	     is_first = false) {
		g_autoptr(GString) text = g_string_new(NULL);

		append[format](text, printer, table, is_first);
		printer->status = pp_cli_print(text);
	}
}

static int print_all(struct printer *printer, enum pp_cli_format format, struct pp_error *err)
{
	g_autoptr(GString) tail = g_string_new(format == PP_CLI_JSON ? "]}\n ]\n}\n" : NULL);
	int ret;

	while (printer->status == PP_EXIT_GOOD &&
	       (printer->object = pp_history_next_object(printer->history))) {
		printer->n_objects++;
		print_operations(printer, format);
	}
	ret = pp_history_by_object_check(printer->history, err);
	if (ret == 0)
		ret = pp_cli_history_check(printer->view, printer->n_objects, err);
	if (printer->n_objects && printer->status == PP_EXIT_GOOD)
		printer->status = pp_cli_print(tail);
	return ret;
}

static void take_event(void *history, const struct pp_event *event)
{
	pp_history_by_object_event(history, event);
}

int pp_cli_history_by_object(struct pp_view *view, enum pp_cli_format format, int *ret_status,
			     struct pp_error *err)
{
	struct printer printer = {
	    .view = view,
	    .history = pp_history_by_object_new(&view->context),
	    .status = PP_EXIT_GOOD,
	};
	int ret = pp_view_read(view, PP_HISTORY_KINDS, take_event, printer.history, err);

	if (ret == 0)
		ret =
		    pp_history_by_object_finish(printer.history, view->capture->model->end_ns, err);
	if (ret == 0)
		ret = print_all(&printer, format, err);
	pp_history_by_object_free(printer.history);
	*ret_status = printer.status;
	return printer.status == PP_EXIT_GOOD ? ret : 0;
}

int pp_cli_history_check(const struct pp_view *view, bool found_any, struct pp_error *err)
{
	int ret = pp_cli_select_check(view, PP_SELECT_ALL, err);

	if (ret < 0 || found_any)
		return ret;
	if (view->context.selection)
		return pp_error_add(err, -ENOENT, "%s: the selection contains no operation",
				    view->capture->model->dir);
	return pp_error_add(err, -ENODATA, "%s: no synchronization was recorded",
			    view->capture->model->dir);
}
