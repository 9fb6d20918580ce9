/* SPDX-License-Identifier: MIT */
/*
 * See history.h.  An operation that waited is one row, at the time of its return.  One that never
 * returned is a row without a result, at the time of its begin.  A condition wait also has rows in
 * the history of its mutex: a release at its begin and an acquisition at its end.
 */
#include "pass/history.h"
#include "pass/paths.h"
#include "analysis/select.h"
#include "analysis/state/select_object.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { TIME, SINCE, TID, THREAD, OP, SIGNAL, RESULT, BLOCKED, WAIT, SITE, PATH, INDEX, N_COLUMNS };

_Static_assert(N_COLUMNS == PP_N_HISTORY_COLUMNS, "history.h");

#define COLUMNS(signal_flags)                                                                      \
	[TIME] = {"time_ns", "time", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,                         \
		  "time of the return; if there was none, of the begin of the wait"},              \
	[SINCE] = {"since_start_s", "time (s)", PP_TYPE_SECONDS,                                   \
		   PP_COLUMN_TEXT_ONLY | PP_COLUMN_STAYS,                                          \
		   "the same, since the start of the capture"},                                    \
	[TID] = {"tid", "tid", PP_TYPE_COUNT, PP_COLUMN_STAYS, "thread id"},                       \
	[THREAD] = {"thread", "thread", PP_TYPE_TEXT, PP_COLUMN_REPEATED, "name of the thread"},   \
	[OP] = {"op", "operation", PP_TYPE_TEXT, PP_COLUMN_STAYS, "what it did"},                  \
	[SIGNAL] = {"signal", "signal", PP_TYPE_TEXT, signal_flags | PP_COLUMN_STAYS,              \
		    "the signal sent"},                                                            \
	[RESULT] = {"result", "result", PP_TYPE_COUNT, PP_COLUMN_DETAIL,                           \
		    "0, or the error number; none: no return"},                                    \
	[BLOCKED] = {"blocked", "blocked", PP_TYPE_BOOL, 0,                                        \
		     "whether it blocked the thread; none: it cannot block, or unknown"},          \
	[WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MORE, "how long it waited"},       \
	[SITE] = {"site", "site", PP_TYPE_TEXT, PP_COLUMN_STAYS, "call site"},                     \
	[PATH] = {"path", "path", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY,                               \
		  "call path, innermost first; none: not recorded"},                               \
	[INDEX] = {"index", "index", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,                           \
		   "number of the thread in its process"},

const struct pp_column pp_history_columns[N_COLUMNS] = {COLUMNS(PP_COLUMN_JSON_ONLY)};
static const struct pp_column signal_columns[N_COLUMNS] = {COLUMNS(0)};

struct pp_history {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	pp_history_take *take;
	pp_history_end *end;
	void *data;
	uint64_t n;
	bool is_finished;
	GHashTable *site_names; /* process -> GHashTable: site -> name */
};

static void report(struct pp_history *history, struct pp_object *object,
		   const struct pp_operation *operation, struct pp_history_operation *shown)
{
	if (!pp_selects_time(history->context, shown->time_ns) ||
	    !pp_may_select_object(history->context, object) ||
	    !pp_selects_operation(history->context, operation))
		return;
	shown->object = object->order;
	shown->order = history->n++;
	history->take(history->data, object, shown);
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_history *history = data;
	bool regained = object->type != pp_sync_type(operation->op);
	struct pp_history_operation shown = {
	    .time_ns = operation->finished ? operation->end_ns : operation->begin_ns,
	    .wait_ns = regained ? 0 : operation->end_ns - operation->begin_ns,
	    .thread = operation->thread,
	    .site = operation->site,
	    .path = operation->path,
	    .signal = (uint32_t)operation->value,
	    .op = (uint8_t)operation->op,
	    .result = operation->result,
	    .blocked = !regained && pp_operation_blocked(history->states, operation),
	    .finished = operation->finished,
	};

	(void)acquired;
	report(history, object, operation, &shown);
}

static void on_yielded(void *data, struct pp_object *mutex, const struct pp_operation *operation)
{
	struct pp_history_operation shown = {
	    .time_ns = operation->begin_ns,
	    .thread = operation->thread,
	    .site = operation->site,
	    .op = (uint8_t)pp_sync_begin(operation->op),
	    .finished = true,
	};

	report(data, mutex, operation, &shown);
}

static bool on_end(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_history *history = data;

	(void)group;
	history->end(history->data, object);
	object->data = NULL;
	return false;
}

struct pp_history *pp_history_new(const struct pp_pass_context *context, pp_history_take *take,
				  pp_history_end *end, void *data)
{
	struct pp_history *history = g_new0(struct pp_history, 1);

	history->context = context;
	history->take = take;
	history->end = end;
	history->data = data;
	history->thread_listener = pp_objects_feed(&history->objects);
	history->object_listener = (struct pp_object_listener){
	    .data = history,
	    .operation = on_operation,
	    .yielded = on_yielded,
	    .fold = on_end,
	};
	history->site_names =
	    g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_hash_table_unref);
	pp_objects_init(&history->objects, &history->object_listener, NULL);
	history->states = pp_thread_states_new(context, &history->thread_listener, NULL);
	return history;
}

/* The objects that still exist. */
static void end_all(struct pp_history *history)
{
	const GPtrArray *all = history->objects.all;

	for (guint i = 0; i < all->len; i++) {
		struct pp_object *object = all->pdata[i];

		if (object)
			on_end(history, object, NULL);
	}
}

void pp_history_free(struct pp_history *history)
{
	if (!history)
		return;
	if (!history->is_finished)
		end_all(history);
	pp_thread_states_free(history->states);
	pp_objects_done(&history->objects, NULL);
	g_hash_table_unref(history->site_names);
	g_free(history);
}

void pp_history_event(struct pp_history *history, const struct pp_event *event)
{
	pp_thread_states_event(history->states, event);
}

void pp_history_finish(struct pp_history *history, int64_t end_ns)
{
	pp_thread_states_finish(history->states, end_ns);
	end_all(history);
	history->is_finished = true;
}

/* Names are cached by site. */
static const char *site_name(struct pp_history *history, const struct pp_history_operation *shown)
{
	const struct pp_namer *namer = history->context->namer;
	const struct pp_process *process = shown->thread->process;
	GHashTable *names = g_hash_table_lookup(history->site_names, process);
	char *name;

	if (!shown->site || !namer || !namer->site)
		return NULL;
	if (!names) {
		names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
		g_hash_table_insert(history->site_names, (void *)process, names);
	}
	name = g_hash_table_lookup(names, &shown->site);
	if (!name) {
		name = namer->site(namer->data, process, shown->site);
		g_hash_table_insert(names, g_memdup2(&shown->site, sizeof(shown->site)), name);
	}
	return name;
}

/* "SIGUSR1"; the number if the signal has no name. */
static char *signal_name(uint32_t number)
{
	const char *name = number <= INT_MAX ? sigabbrev_np((int)number) : NULL;

	return name ? g_strdup_printf("SIG%s", name) : g_strdup_printf("%" PRIu32, number);
}

void pp_history_set_cells(struct pp_cell *row, struct pp_history *history,
			  const struct pp_history_operation *shown)
{
	enum st_event op = shown->op;
	int64_t start_ns = history->context->model->start_ns;

	pp_cell_set_time(&row[TIME], shown->time_ns);
	pp_cell_set_number(&row[SINCE], (double)(shown->time_ns - start_ns) / 1e9);
	pp_cell_set_count(&row[TID], shown->thread->tid);
	pp_cell_set_text(&row[THREAD], pp_thread_name(shown->thread));
	pp_cell_set_text(&row[OP], pp_sync_name(op));
	if (pp_sync_has(op, PP_SYNC_RAISES)) {
		g_autofree char *name = signal_name(shown->signal);

		pp_cell_set_text(&row[SIGNAL], name);
	}
	if (shown->finished)
		pp_cell_set_count(&row[RESULT], shown->result);
	if (pp_sync_has(op, PP_SYNC_BLOCKS)) {
		if (shown->blocked || pp_thread_blocking_known(history->states, shown->thread))
			pp_cell_set_bool(&row[BLOCKED], shown->blocked);
		pp_cell_set_time(&row[WAIT], shown->wait_ns);
	}
	pp_cell_set_text(&row[SITE], site_name(history, shown));
	if (shown->path) {
		g_autofree char *path =
		    pp_path_text(shown->path, shown->thread->process, history->context->namer);

		pp_cell_set_text(&row[PATH], path);
	}
	pp_cell_set_count(&row[INDEX], shown->thread->index);
}

struct pp_table *pp_history_table_new(enum gm_sync_type type)
{
	return pp_table_new("ops", "Operations",
			    type == GM_SYNC_TYPE_signal ? signal_columns : pp_history_columns,
			    N_COLUMNS);
}
