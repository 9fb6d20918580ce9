/* SPDX-License-Identifier: MIT */
/* Prints while reading, since a history may not fit into memory. */
#include "cli/history_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/select.h"
#include "cli/tables.h"
#include "core/text/duration.h"
#include "calls/survey.h"
#include "events/events.h"
#include "pass/replay.h"
#include "analysis/thread_cells.h"

#define BATCH_BYTES 65536

struct printer {
	const struct pp_view *view;
	enum pp_cli_format format;
	const struct pp_thread *thread; /* of the last line */
	GString *text;
	int status;
	struct pp_replay *replay;
};

enum { PID, IMAGE, TID, INDEX, TIME, EVENT, DEPTH, FUNCTION, DURATION, N_COLUMNS };

static const struct pp_column columns[N_COLUMNS] = {
    [PID] = {"pid", "pid", PP_TYPE_COUNT, 0, "process"},
    [IMAGE] = {"image", "image", PP_TYPE_COUNT, 0,
	       "0, 1, ...: number of the process's image, one more after each exec"},
    [TID] = {"tid", "tid", PP_TYPE_COUNT, 0, "thread id"},
    [INDEX] = {"index", "index", PP_TYPE_COUNT, 0, "number of the thread in its process"},
    [TIME] = {"time_ns", "time", PP_TYPE_TIME_NS, 0,
	      "time of the call; for a return, of the return"},
    [EVENT] = {"event", "event", PP_TYPE_TEXT, 0, "call, leaf (a call and its return) or return"},
    [DEPTH] = {"depth", "depth", PP_TYPE_COUNT, 0, "number of enclosing calls"},
    [FUNCTION] = {"function", "function", PP_TYPE_TEXT, 0, "its name"},
    [DURATION] = {"duration_ns", "duration", PP_TYPE_TIME_NS, 0,
		  "from entry to return; null: unknown"},
};

static const char *const event_names[] = {
    [PP_REPLAY_CALL] = "call",
    [PP_REPLAY_LEAF] = "leaf",
    [PP_REPLAY_RETURN] = "return",
};

/* Appends a row in JSON or CSV. */
static void append_row(struct printer *printer, const struct pp_replay_line *line)
{
	struct pp_table *table = pp_table_new("calls", "Calls", columns, N_COLUMNS);
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_count(&row[PID], line->thread->process->pid);
	pp_cell_set_count(&row[IMAGE], line->thread->process->image);
	pp_cell_set_count(&row[TID], line->thread->tid);
	pp_cell_set_count(&row[INDEX], line->thread->index);
	pp_cell_set_time(&row[TIME], line->time_ns);
	pp_cell_set_text(&row[EVENT], event_names[line->kind]);
	pp_cell_set_count(&row[DEPTH], line->depth);
	pp_cell_set_text(&row[FUNCTION], line->name);
	if (line->duration_ns != PP_DURATION_UNKNOWN)
		pp_cell_set_time(&row[DURATION], line->duration_ns);
	pp_cli_append_row(printer->text, printer->format, table, !printer->thread);
	pp_table_free(table);
}

static void append_text(struct printer *printer, const struct pp_replay_line *line)
{
	const struct pp_model *model = printer->view->capture->model;
	int64_t since_ns = line->time_ns - model->start_ns;
	g_autofree char *duration = line->duration_ns == PP_DURATION_UNKNOWN
					? g_strdup("")
					: pp_duration_text(line->duration_ns);

	if (line->thread != printer->thread) {
		g_autofree char *title = pp_thread_title(line->thread);

		g_string_append_printf(printer->text, "%sCalls of %s\n\n%14s  %9s  function\n",
				       printer->thread ? "\n" : "", title, "time (s)", "duration");
	}
	g_string_append_printf(printer->text, "%4" PRId64 ".%09" PRId64 "  %9s  %*s%s%s\n",
			       since_ns / 1000000000, since_ns % 1000000000, duration,
			       (int)(2 * MIN(line->depth, 100)), "",
			       line->kind == PP_REPLAY_RETURN ? "end of " : "", line->name);
}

static void take_line(void *data, const struct pp_replay_line *line)
{
	struct printer *printer = data;

	if (!pp_selects_time(&printer->view->context, line->time_ns) ||
	    !pp_selects_function(&printer->view->context, line->name))
		return;
	if (printer->format == PP_CLI_TEXT)
		append_text(printer, line);
	else
		append_row(printer, line);
	printer->thread = line->thread;
	pp_cli_print_batch(printer->text, BATCH_BYTES, &printer->status);
}

bool pp_cli_has_returns(const struct pp_view *view, uint32_t tid)
{
	struct pp_calls_survey *survey = pp_calls_survey_new(view->capture, true);
	const GPtrArray *threads = view->capture->model->threads;
	bool found = false;

	for (guint i = 0; i < threads->len && !found; i++)
		found = pp_calls_survey_has_returns(survey, i) &&
			((const struct pp_thread *)threads->pdata[i])->tid == tid;
	pp_calls_survey_free(survey);
	return found;
}

static void take_event(void *data, const struct pp_event *event)
{
	pp_replay_event(((struct printer *)data)->replay, event);
}

static int replay(struct printer *printer, uint32_t tid, struct pp_error *err)
{
	const struct pp_view *view = printer->view;
	int ret;

	if (printer->format == PP_CLI_JSON)
		g_string_append(printer->text, "{\n \"schema\": 1,\n \"calls\": [");
	ret = pp_events_read(view->capture, PP_CALL_KINDS, take_event, printer, err);
	pp_replay_release(printer->replay);
	if (ret == 0 && view->capture->histories->len)
		ret = pp_cli_select_check(view, PP_SELECT_FUNCTION, err);
	if (ret < 0)
		return ret;
	if (!printer->thread && view->context.selection->by & ~PP_SELECT_THREAD)
		return pp_error_add(err, -ENOENT, "%s: the selection contains no call",
				    view->capture->model->dir);
	if (!printer->thread)
		return view->capture->histories->len
			   ? pp_error_add(
				 err, -ENOENT,
				 "%s: no call by a thread %u; see `gprof-mt report threads`",
				 view->capture->model->dir, tid)
			   : pp_error_add(err, -ENODATA,
					  "%s: no history of calls; record with "
					  "`--set calls.mode=history` a program built with -pg",
					  view->capture->model->dir);
	if (printer->format == PP_CLI_JSON)
		g_string_append(printer->text, "\n ]\n}\n");
	pp_cli_print_batch(printer->text, 0, &printer->status);
	return 0;
}

int pp_cli_history_calls(const char *dir, struct pp_selection *selection, enum pp_cli_format format)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_view view;
	struct printer printer = {.view = &view, .format = format, .status = PP_EXIT_GOOD};
	uint32_t tid = 0;
	int ret = pp_view_open(&view, dir, NULL, &err), damaged;

	printer.text = g_string_new(NULL);
	if (ret == 0)
		ret = pp_view_select_one(&view, selection, &tid, &err);
	if (ret == 0) {
		printer.replay = pp_replay_new(&view.context, tid, pp_cli_has_returns(&view, tid),
					       take_line, &printer);
		ret = replay(&printer, tid, &err);
	}
	if (ret < 0) {
		printer.status = pp_cli_fail(&err);
	} else {
		damaged = pp_view_print_damage(&view);
		printer.status = MAX(printer.status, damaged);
	}
	pp_replay_free(printer.replay);
	g_string_free(printer.text, TRUE);
	pp_view_done(&view);
	return printer.status;
}
