/* SPDX-License-Identifier: MIT */
/*
 * Prints each operation when it is read, with the name that its object has at that time.
 *
 * The name of a thread's object changes with the thread's start.  If objects are selected by name,
 * operations on it before are therefore held back until then.
 */
#include "cli/history.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "analysis/state/object_row.h"
#include "analysis/state/select_object.h"
#include "cli/commands.h"
#include "cli/tables.h"
#include "cli/terminal.h"
#include "core/text/printable.h"
#include "pass/history.h"
#include "render/fit.h"

#define BATCH_BYTES 65536
#define N_COLUMNS   (PP_OBJECT_CELLS + PP_N_HISTORY_COLUMNS)

struct printer {
	const struct pp_view *view;
	enum pp_cli_format format;
	struct pp_history *history;
	struct pp_column columns[N_COLUMNS]; /* of a row in JSON */
	bool by_name;			     /* objects are selected, some of them by name */
	struct pp_fit_column *fitted;	     /* of text on a terminal; NULL: nothing is cut */
	unsigned width;			     /* of the terminal */
	GString *text;
	uint64_t n;
	int status;
};

/* The data of an object.  Its name depends on the three members before it. */
struct shown {
	const struct pp_thread *subject;
	uint64_t init_site, load_id;
	char *name;
	bool is_selected;
	GArray *held; /* of struct pp_history_operation; NULL: none */
};

static void forget(void *data, struct pp_object *object)
{
	struct shown *shown = object->data;

	(void)data;
	if (!shown)
		return;
	g_free(shown->name);
	g_clear_pointer(&shown->held, g_array_unref);
	g_free(shown);
}

static struct shown *shown_of(const struct printer *printer, struct pp_object *object)
{
	const struct pp_pass_context *context = &printer->view->context;
	struct shown *shown = object->data;

	if (!shown)
		shown = object->data = g_new0(struct shown, 1);
	if (shown->name && shown->subject == object->subject &&
	    shown->init_site == object->init_site && shown->load_id == object->load_id)
		return shown;
	g_free(shown->name);
	shown->name = pp_printable(pp_object_name(object, context->namer));
	shown->is_selected = pp_selects_object(context, object);
	shown->subject = object->subject;
	shown->init_site = object->init_site;
	shown->load_id = object->load_id;
	return shown;
}

/* --- rows ----------------------------------------------------------------------------------- */

enum { SINCE, TID, THREAD, OPERATION, RESULT, BLOCKED, WAIT, OBJECT, SITE, N_TEXT_COLUMNS };

/* Columns of text.  Rows are printed at once, so widths do not depend on them. */
static const struct text_column {
	const char *title, *key; /* key NULL: see append_text() */
	struct pp_fit_column fit;
	bool is_left;
} text_columns[N_TEXT_COLUMNS] = {
    [SINCE] = {"time (s)", "since_start_s", {14, 14, 14, INT_MAX}, false},
    [TID] = {"tid", "tid", {7, 7, 7, 2}, false},
    [THREAD] = {"thread", "thread", {15, 6, 12, 4}, true},
    [OPERATION] = {"operation", NULL, {22, 9, 18, INT_MAX}, true},
    [RESULT] = {"result", "result", {6, 6, 6, 1}, false},
    [BLOCKED] = {"blocked", "blocked", {7, 7, 7, 3}, false},
    [WAIT] = {"wait", "wait_ns", {9, 9, 9, 6}, false},
    [OBJECT] = {"object", NULL, {32, 9, 16, INT_MAX}, true},
    [SITE] = {"site", "site", {40, 9, 16, 5}, true},
};

#define GAP 2

/* Fits the columns to a terminal.  The last one gets what is left. */
static void fit_columns(struct printer *printer)
{
	unsigned total = 0;

	printer->width = pp_cli_text_style().width;
	if (!printer->width)
		return;
	printer->fitted = g_new(struct pp_fit_column, N_TEXT_COLUMNS);
	for (unsigned i = 0; i < N_TEXT_COLUMNS; i++)
		printer->fitted[i] = text_columns[i].fit;
	/* There is no gap before the first column. */
	pp_fit_columns(printer->fitted, N_TEXT_COLUMNS, GAP, printer->width + GAP);
	for (unsigned i = 0; i < N_TEXT_COLUMNS; i++)
		total += printer->fitted[i].width ? printer->fitted[i].width + GAP : 0;
	if (printer->fitted[SITE].width && total < printer->width + GAP)
		printer->fitted[SITE].width += printer->width + GAP - total;
}

/* Takes ownership of the text. */
static void append_cell(struct printer *printer, unsigned column, char *text)
{
	const struct pp_fit_column *fitted = printer->fitted ? &printer->fitted[column] : NULL;
	unsigned width = fitted ? fitted->width : text_columns[column].fit.width;
	g_autofree char *cell = fitted && width ? pp_fit_cut(text, width, false) : text;
	glong len = g_utf8_strlen(cell, -1);
	int blanks = len < (glong)width ? (int)(width - (unsigned)len) : 0;

	if (!width)
		return;
	g_string_append_printf(printer->text, "%*s", column == SINCE ? 0 : GAP, "");
	if (!text_columns[column].is_left)
		g_string_append_printf(printer->text, "%*s%s", blanks, "", cell);
	else
		g_string_append_printf(printer->text, "%s%*s", cell, column == SITE ? 0 : blanks,
				       "");
}

static void append_omitted(struct printer *printer)
{
	g_autoptr(GString) line = g_string_new(NULL);

	for (unsigned i = 0; printer->fitted && i < N_TEXT_COLUMNS; i++)
		if (!printer->fitted[i].width)
			g_string_append_printf(
			    line, "%s%s", line->len ? ", " : "  left out: ", text_columns[i].title);
	if (!line->len)
		return;
	g_string_append(line, "; --wide shows all columns");
	pp_fit_wrap(printer->text, line->str, printer->width, 4);
	g_string_append_c(printer->text, '\n');
}

static void append_head(struct printer *printer)
{
	if (printer->format == PP_CLI_JSON)
		g_string_append(printer->text, "{\n \"schema\": 1,\n \"operations\": [");
	if (printer->format != PP_CLI_TEXT)
		return;
	fit_columns(printer);
	g_string_append(printer->text, "Operations in order of time\n");
	append_omitted(printer);
	g_string_append_c(printer->text, '\n');
	for (unsigned i = 0; i < N_TEXT_COLUMNS; i++)
		append_cell(printer, i, g_strdup(text_columns[i].title));
	g_string_append_c(printer->text, '\n');
}

static char *cell_text(const struct pp_table *table, const char *key)
{
	int column = pp_table_column(table, key);
	const struct pp_cell *row = table->rows->pdata[0];

	return pp_printable(pp_cell_text(&row[column], &table->columns[column]));
}

/* "kill SIGUSR1" for an operation with a signal. */
static char *operation_text(const struct pp_table *table)
{
	g_autofree char *operation = cell_text(table, "op");
	g_autofree char *signal = cell_text(table, "signal");

	return strcmp(signal, "-") == 0 ? g_steal_pointer(&operation)
					: g_strdup_printf("%s %s", operation, signal);
}

static void append_text(struct printer *printer, const struct shown *shown,
			const struct pp_table *table)
{
	for (unsigned i = 0; i < N_TEXT_COLUMNS; i++)
		append_cell(printer, i,
			    i == OBJECT	     ? g_strdup(shown->name)
			    : i == OPERATION ? operation_text(table)
					     : cell_text(table, text_columns[i].key));
	g_string_append_c(printer->text, '\n');
}

static void append_json(struct printer *printer, const struct pp_object *object,
			const struct pp_history_operation *operation)
{
	struct pp_table *table =
	    pp_table_new("operations", "Operations", printer->columns, N_COLUMNS);
	struct pp_cell *row = pp_table_add_row(table);

	pp_object_row(row, object, printer->view->context.namer);
	pp_history_set_cells(row + PP_OBJECT_CELLS, printer->history, operation);
	pp_cli_append_row(printer->text, PP_CLI_JSON, table, printer->n == 0);
	pp_table_free(table);
}

static void print(struct printer *printer, const struct pp_object *object,
		  const struct pp_history_operation *operation)
{
	struct pp_table *table;

	if (!printer->n)
		append_head(printer);
	if (printer->format == PP_CLI_JSON) {
		append_json(printer, object, operation);
	} else {
		table = pp_history_table_new(object->type);
		pp_history_set_cells(pp_table_add_row(table), printer->history, operation);
		if (printer->format == PP_CLI_TEXT)
			append_text(printer, object->data, table);
		else
			pp_cli_history_append_csv(printer->text, printer->view, object->order + 1,
						  object, table, printer->n == 0);
		if (printer->format == PP_CLI_TEXT)
			pp_table_free(table);
	}
	printer->n++;
	pp_cli_print_batch(printer->text, BATCH_BYTES, &printer->status);
}

static void print_held(struct printer *printer, const struct pp_object *object, struct shown *shown)
{
	for (guint i = 0; shown->is_selected && i < shown->held->len; i++)
		print(printer, object, &g_array_index(shown->held, struct pp_history_operation, i));
	g_clear_pointer(&shown->held, g_array_unref);
}

static void take(void *data, struct pp_object *object, const struct pp_history_operation *operation)
{
	struct printer *printer = data;
	struct shown *shown = shown_of(printer, object);

	if (printer->by_name && object->type == GM_SYNC_TYPE_thread && !object->subject &&
	    !shown->is_selected) {
		if (!shown->held)
			shown->held = g_array_new(FALSE, FALSE, sizeof(*operation));
		g_array_append_vals(shown->held, operation, 1);
		return;
	}
	if (shown->held)
		print_held(printer, object, shown);
	if (shown->is_selected)
		print(printer, object, operation);
}

/* -------------------------------------------------------------------------------------------- */

static void take_event(void *data, const struct pp_event *event)
{
	pp_history_event(((struct printer *)data)->history, event);
}

/* Prints what there is, so that no line waits for those after it. */
static bool go_on(void *data)
{
	struct printer *printer = data;

	pp_cli_print_batch(printer->text, 1, &printer->status);
	return printer->status == PP_EXIT_GOOD;
}

static bool selects_names(const struct pp_pass_context *context)
{
	const struct pp_selection *selection = context->selection;

	for (guint i = 0; pp_selects_by(context, PP_SELECT_OBJECT) && i < selection->objects->len;
	     i++)
		if (!((const struct pp_wanted *)selection->objects->pdata[i])->number)
			return true;
	return false;
}

static int print_all(struct printer *printer, struct pp_view *view, struct pp_error *err)
{
	int ret = pp_view_read_while(view, PP_HISTORY_KINDS, take_event, go_on, printer, err);

	if (ret < 0)
		return ret;
	pp_history_finish(printer->history, view->capture->model->end_ns);
	ret = pp_cli_history_check(view, printer->n, err);
	if (printer->n && printer->format == PP_CLI_JSON)
		g_string_append(printer->text, "\n ]\n}\n");
	go_on(printer);
	return ret;
}

int pp_cli_history_by_time(struct pp_view *view, enum pp_cli_format format, int *ret_status,
			   struct pp_error *err)
{
	static const struct pp_column object_columns[PP_OBJECT_CELLS] = {PP_OBJECT_COLUMNS};
	struct printer printer = {
	    .view = view,
	    .format = format,
	    .by_name = selects_names(&view->context),
	    .text = g_string_new(NULL),
	    .status = PP_EXIT_GOOD,
	};
	int ret;

	memcpy(printer.columns, object_columns, sizeof(object_columns));
	memcpy(printer.columns + PP_OBJECT_CELLS, pp_history_columns,
	       PP_N_HISTORY_COLUMNS * sizeof(*pp_history_columns));
	printer.history = pp_history_new(&view->context, take, forget, &printer);
	ret = print_all(&printer, view, err);
	pp_history_free(printer.history);
	g_string_free(printer.text, TRUE);
	g_free(printer.fitted);
	*ret_status = printer.status;
	/* Standard output is closed: that has been reported. */
	return printer.status == PP_EXIT_GOOD ? ret : 0;
}
