/* SPDX-License-Identifier: MIT */
/*
 * See history.h.  An operation that waited is one row, at the time of its return.  One that never
 * returned is a row without a result, at the time of its begin.  A condition wait also has rows in
 * the history of its mutex: a release at its begin and an acquisition at its end.
 */
#include "pass/history.h"
#include "analysis/state/object_row.h"
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
	[SINCE] = {"since_start_s", "time (s)", PP_TYPE_SECONDS, PP_COLUMN_TEXT_ONLY,              \
		   "the same, since the start of the capture"},                                    \
	[TID] = {"tid", "tid", PP_TYPE_COUNT, 0, "thread id"},                                     \
	[THREAD] = {"thread", "thread", PP_TYPE_TEXT, 0, "name of the thread"},                    \
	[OP] = {"op", "operation", PP_TYPE_TEXT, 0, "what it did"},                                \
	[SIGNAL] = {"signal", "signal", PP_TYPE_TEXT, signal_flags, "the signal sent"},            \
	[RESULT] = {"result", "result", PP_TYPE_COUNT, 0,                                          \
		    "0, or the error number; none: no return"},                                    \
	[BLOCKED] = {"blocked", "blocked", PP_TYPE_BOOL, 0,                                        \
		     "whether it blocked the thread; none: it cannot block, or unknown"},          \
	[WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, 0, "how long it waited"},                    \
	[SITE] = {"site", "site", PP_TYPE_TEXT, 0, "call site"},                                   \
	[PATH] = {"path", "path", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY,                               \
		  "call path, innermost first; none: not recorded"},                               \
	[INDEX] = {"index", "index", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,                           \
		   "number of the thread in its process"},

const struct pp_column pp_history_columns[N_COLUMNS] = {COLUMNS(PP_COLUMN_JSON_ONLY)};
static const struct pp_column signal_columns[N_COLUMNS] = {COLUMNS(0)};

struct record {
	int64_t time_ns, wait_ns;
	const struct pp_thread *thread;
	const struct pp_path *path;
	uint64_t site;
	uint32_t signal;
	uint8_t op, result;
	bool blocked, finished;
};

struct pp_history {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	GPtrArray *shown;	/* of struct pp_object *, whose data is a GArray of struct record */
	GHashTable *site_names; /* process -> GHashTable: site -> name */
};

static void keep(struct pp_history *history, struct pp_object *object,
		 const struct pp_operation *operation, const struct record *record)
{
	if (!pp_selects_time(history->context, record->time_ns) ||
	    !pp_may_select_object(history->context, object) ||
	    !pp_selects_operation(history->context, operation))
		return;
	if (!object->data)
		object->data = g_array_new(FALSE, FALSE, sizeof(struct record));
	g_array_append_vals(object->data, record, 1);
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_history *history = data;
	bool regained = object->type != pp_sync_type(operation->op);
	struct record record = {
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
	keep(history, object, operation, &record);
}

static void on_yielded(void *data, struct pp_object *mutex, const struct pp_operation *operation)
{
	struct record record = {
	    .time_ns = operation->begin_ns,
	    .thread = operation->thread,
	    .site = operation->site,
	    .op = (uint8_t)pp_sync_begin(operation->op),
	    .finished = true,
	};

	keep(data, mutex, operation, &record);
}

struct pp_history *pp_history_new(const struct pp_pass_context *context)
{
	struct pp_history *history = g_new0(struct pp_history, 1);

	history->context = context;
	history->thread_listener = pp_objects_feed(&history->objects);
	history->object_listener = (struct pp_object_listener){
	    .data = history,
	    .operation = on_operation,
	    .yielded = on_yielded,
	};
	history->shown = g_ptr_array_new();
	history->site_names =
	    g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_hash_table_unref);
	pp_objects_init(&history->objects, &history->object_listener, NULL);
	history->states = pp_thread_states_new(context, &history->thread_listener, NULL);
	return history;
}

static void records_free(void *data)
{
	g_array_unref(data);
}

void pp_history_free(struct pp_history *history)
{
	if (!history)
		return;
	pp_thread_states_free(history->states);
	pp_objects_done(&history->objects, records_free);
	g_ptr_array_unref(history->shown);
	g_hash_table_unref(history->site_names);
	g_free(history);
}

void pp_history_event(struct pp_history *history, const struct pp_event *event)
{
	pp_thread_states_event(history->states, event);
}

static int compare_records(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

void pp_history_finish(struct pp_history *history, int64_t end_ns)
{
	pp_thread_states_finish(history->states, end_ns);
	for (guint i = 0; i < history->objects.all->len; i++) {
		struct pp_object *object = history->objects.all->pdata[i];

		if (!object->data || !pp_selects_object(history->context, object))
			continue;
		/* Only operations that never returned are out of order.  Stable, unlike qsort. */
		g_array_sort(object->data, compare_records);
		g_ptr_array_add(history->shown, object);
	}
}

unsigned pp_history_n_objects(const struct pp_history *history)
{
	return history->shown->len;
}

const struct pp_object *pp_history_object(const struct pp_history *history, unsigned at)
{
	return history->shown->pdata[at];
}

static const GArray *records_of(const struct pp_history *history, unsigned at)
{
	return pp_history_object(history, at)->data;
}

unsigned pp_history_n_operations(const struct pp_history *history, unsigned at)
{
	return records_of(history, at)->len;
}

char *pp_history_name(const struct pp_history *history, unsigned at)
{
	return pp_object_name(pp_history_object(history, at), history->context->namer);
}

void pp_history_object_row(const struct pp_history *history, unsigned at, struct pp_cell *row)
{
	pp_object_row(row, pp_history_object(history, at), history->context->namer);
}

/* Names are cached by site. */
static const char *site_name(struct pp_history *history, const struct record *record)
{
	const struct pp_namer *namer = history->context->namer;
	const struct pp_process *process = record->thread->process;
	GHashTable *names = g_hash_table_lookup(history->site_names, process);
	char *name;

	if (!record->site || !namer || !namer->site)
		return NULL;
	if (!names) {
		names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
		g_hash_table_insert(history->site_names, (void *)process, names);
	}
	name = g_hash_table_lookup(names, &record->site);
	if (!name) {
		name = namer->site(namer->data, process, record->site);
		g_hash_table_insert(names, g_memdup2(&record->site, sizeof(record->site)), name);
	}
	return name;
}

/* "SIGUSR1"; the number if the signal has no name. */
static char *signal_name(uint32_t number)
{
	const char *name = number <= INT_MAX ? sigabbrev_np((int)number) : NULL;

	return name ? g_strdup_printf("SIG%s", name) : g_strdup_printf("%" PRIu32, number);
}

static void add_row(struct pp_table *table, struct pp_history *history, const struct record *record)
{
	struct pp_cell *row = pp_table_add_row(table);
	enum st_event op = record->op;
	int64_t start_ns = history->context->model->start_ns;

	pp_cell_set_time(&row[TIME], record->time_ns);
	pp_cell_set_number(&row[SINCE], (double)(record->time_ns - start_ns) / 1e9);
	pp_cell_set_count(&row[TID], record->thread->tid);
	pp_cell_set_text(&row[THREAD], record->thread->name);
	pp_cell_set_text(&row[OP], pp_sync_name(op));
	if (pp_sync_has(op, PP_SYNC_RAISES)) {
		g_autofree char *name = signal_name(record->signal);

		pp_cell_set_text(&row[SIGNAL], name);
	}
	if (record->finished)
		pp_cell_set_count(&row[RESULT], record->result);
	if (pp_sync_has(op, PP_SYNC_BLOCKS)) {
		if (pp_thread_blocking_known(history->states, record->thread))
			pp_cell_set_bool(&row[BLOCKED], record->blocked);
		pp_cell_set_time(&row[WAIT], record->wait_ns);
	}
	pp_cell_set_text(&row[SITE], site_name(history, record));
	if (record->path) {
		g_autofree char *path =
		    pp_path_text(record->path, record->thread->process, history->context->namer);

		pp_cell_set_text(&row[PATH], path);
	}
	pp_cell_set_count(&row[INDEX], record->thread->index);
}

struct pp_table *pp_history_table(struct pp_history *history, unsigned at, unsigned first,
				  unsigned n)
{
	const GArray *records = records_of(history, at);
	bool signals = pp_history_object(history, at)->type == GM_SYNC_TYPE_signal;
	struct pp_table *table = pp_table_new(
	    "ops", "Operations", signals ? signal_columns : pp_history_columns, N_COLUMNS);

	for (guint i = first; i < records->len && i - first < n; i++)
		add_row(table, history, &g_array_index(records, struct record, i));
	return table;
}
