/* SPDX-License-Identifier: MIT */
/* The tables of the critical path by thread, object, and call site. */
#include <inttypes.h>

#include "core/text/duration.h"
#include "pass/critical_path/critical_path.h"
#include "analysis/state/object_row.h"
#include "analysis/select.h"
#include "analysis/thread_cells.h"

enum {
	THREAD_PATH = PP_N_NAMED_THREAD_CELLS,
	THREAD_PCT,
	THREAD_RUNNING,
	THREAD_RUNNABLE,
	THREAD_SYNC,
	THREAD_IO,
	THREAD_OTHER,
	THREAD_UNKNOWN,
	THREAD_OUTSIDE,
	N_THREAD_COLUMNS,
};

static const struct pp_column thread_columns[N_THREAD_COLUMNS] = {
    PP_NAMED_THREAD_COLUMNS("name"),
    [THREAD_PATH] = {"path_ns", "on path", PP_TYPE_TIME_NS, 0,
		     "time of the path in the thread: the sum of the last seven columns"},
    [THREAD_PCT] = {"path_pct", "path %", PP_TYPE_PERCENT, PP_COLUMN_SHARE,
		    "... as a share of the path"},
    [THREAD_RUNNING] = {"running_ns", "running", PP_TYPE_TIME_NS, 0, "on a CPU"},
    [THREAD_RUNNABLE] = {"runnable_ns", "runnable", PP_TYPE_TIME_NS, 0,
			 "new, preempted or woken, and waiting for a CPU"},
    [THREAD_SYNC] = {"blocked_sync_ns", "sync", PP_TYPE_TIME_NS, 0,
		     "blocked on an object, and not woken by a thread of the program"},
    [THREAD_IO] = {"blocked_io_ns", "I/O", PP_TYPE_TIME_NS, 0, "... uninterruptible"},
    [THREAD_OTHER] = {"blocked_other_ns", "other", PP_TYPE_TIME_NS, 0, "... otherwise"},
    [THREAD_UNKNOWN] = {"unknown_ns", "unknown", PP_TYPE_TIME_NS, 0, "unknown from the events"},
    [THREAD_OUTSIDE] = {"outside_ns", "outside", PP_TYPE_TIME_NS, 0,
			"blocked without a lock held: for input, a child, or time; no part of the "
			"percentages"},
};

enum {
	OBJECT_HELD = PP_OBJECT_CELLS,
	OBJECT_PCT,
	OBJECT_CROSSINGS,
	OBJECT_WAITED,
	N_OBJECT_COLUMNS
};

static const struct pp_column object_columns[N_OBJECT_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [OBJECT_HELD] = {"held_ns", "held", PP_TYPE_TIME_NS, 0,
		     "time of the path while the thread on it held the object"},
    [OBJECT_PCT] = {"held_pct", "path %", PP_TYPE_PERCENT, PP_COLUMN_SHARE,
		    "... as a share of the path"},
    [OBJECT_CROSSINGS] = {"crossings", "crossings", PP_TYPE_COUNT, 0,
			  "times the path goes from a thread that waited for it to the one that "
			  "woke it"},
    [OBJECT_WAITED] = {"waited_ns", "waited", PP_TYPE_TIME_NS, 0,
		       "wait time of these threads, which was not on the path"},
};

/* Parts of the time of a row, by the mode of the thread; their sum is that time. */
#define PARTS(X)                                                                                   \
	X(RUNNING, "running", "running", "of this: on a CPU")                                      \
	X(RUNNABLE, "runnable", "runnable", "... waiting for a CPU")                               \
	X(BLOCKED, "blocked", "blocked",                                                           \
	  "... blocked: a sleep, I/O, or a wait that no thread of the program ended")              \
	X(UNKNOWN, "unknown", "unknown", "... unknown, without scheduling events")                 \
	X(OUTSIDE, "outside", "outside",                                                           \
	  "... blocked without a lock held: for input, a child, or time; no part of the "          \
	  "percentages")

enum {
	SITE_SITE,
	SITE_CALL,
	SITE_PATH,
	SITE_RUNNING,
	SITE_RUNNABLE,
	SITE_BLOCKED,
	SITE_UNKNOWN,
	SITE_OUTSIDE,
	N_SITE_COLUMNS
};

static const struct pp_column site_columns[N_SITE_COLUMNS] = {
    [SITE_SITE] = {"site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY, "where"},
    [SITE_CALL] = {"call", "call", PP_TYPE_TEXT, PP_COLUMN_KEY,
		   "called function; none: the thread's begin"},
    [SITE_PATH] = {"path_ns", "on path", PP_TYPE_TIME_NS, 0, "time of the path after the call"},
#define PART(name, key, title, help) [SITE_##name] = {key "_ns", title, PP_TYPE_TIME_NS, 0, help},
    PARTS(PART)
#undef PART
};

enum {
	FUNCTION_FUNCTION,
	FUNCTION_PATH,
	FUNCTION_PCT,
	FUNCTION_RUNNING,
	FUNCTION_RUNNABLE,
	FUNCTION_BLOCKED,
	FUNCTION_UNKNOWN,
	FUNCTION_OUTSIDE,
	FUNCTION_MAIN_SITE,
	FUNCTION_SITES,
	N_FUNCTION_COLUMNS
};

static const struct pp_column function_columns[N_FUNCTION_COLUMNS] = {
    [FUNCTION_FUNCTION] = {"function", "call in", PP_TYPE_TEXT, PP_COLUMN_KEY,
			   "the caller of the last synchronization or blocking call, or the start "
			   "routine: not the function that used the time"},
    [FUNCTION_PATH] =
	{"path_ns", "on path", PP_TYPE_TIME_NS, 0,
	 "time of the path from those calls to the next: the sum of the next five time "
	 "columns"},
    [FUNCTION_PCT] = {"path_pct", "path %", PP_TYPE_PERCENT, PP_COLUMN_SHARE,
		      "... as a share of the path"},
#define PART(name, key, title, help)                                                               \
	[FUNCTION_##name] = {key "_ns", title, PP_TYPE_TIME_NS, 0, help},
    PARTS(PART)
#undef PART
	[FUNCTION_MAIN_SITE] = {"main_site", "mostly", PP_TYPE_TEXT,
				PP_COLUMN_TEXT_ONLY | PP_COLUMN_MORE,
				"the call with the most time"},
    [FUNCTION_SITES] = {"sites", "sites", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY, "each such call",
			site_columns, N_SITE_COLUMNS},
};

/* --- threads -------------------------------------------------------------------------------- */

static gint compare_threads(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;
	gint order = pp_critical_compare_inside(x, y, THREAD_PATH, THREAD_OUTSIDE);

	return order ? order
		     : (x[PP_CELL_TID].count > y[PP_CELL_TID].count) -
			   (x[PP_CELL_TID].count < y[PP_CELL_TID].count);
}

static struct pp_table *threads_table(const struct pp_critical_sums *path)
{
	static const unsigned columns[PP_CRITICAL_MODES] = {
	    [PP_CRITICAL_MODE_OUTSIDE] = THREAD_OUTSIDE, [PP_MODE_UNKNOWN] = THREAD_UNKNOWN,
	    [PP_MODE_RUNNING] = THREAD_RUNNING,		 [PP_MODE_RUNNABLE] = THREAD_RUNNABLE,
	    [PP_MODE_BLOCKED_SYNC] = THREAD_SYNC,	 [PP_MODE_BLOCKED_IO] = THREAD_IO,
	    [PP_MODE_BLOCKED_OTHER] = THREAD_OTHER,
	};
	struct pp_table *table = pp_table_new("critical_threads", "Critical path: threads",
					      thread_columns, N_THREAD_COLUMNS);
	const GPtrArray *threads = path->critical->context->model->threads;
	struct pp_cell *row = NULL;
	guint last = 0;

	for (guint i = 0; i < path->sums->len; i++) {
		const struct pp_chain_entry *entry =
		    &g_array_index(path->sums, struct pp_chain_entry, i);
		const struct pp_thread *thread;

		if (pp_critical_amount_of(entry) != PP_CRITICAL_IN_MODE)
			continue;
		thread = threads->pdata[pp_critical_id_of(entry)];
		if (!row || pp_critical_id_of(entry) != last) {
			row = pp_named_thread_row(table, thread);
			for (unsigned mode = 0; mode < PP_CRITICAL_MODES; mode++)
				pp_cell_set_time(&row[columns[mode]], 0);
			last = pp_critical_id_of(entry);
		}
		pp_critical_add_time(&row[columns[entry->key & 0xff]], entry->amount);
		pp_critical_add_time(&row[THREAD_PATH], entry->amount);
		pp_critical_set_share(&row[THREAD_PCT],
				      row[THREAD_PATH].time_ns - row[THREAD_OUTSIDE].time_ns, path);
	}
	g_ptr_array_sort(table->rows, compare_threads);
	return table;
}

/* --- objects -------------------------------------------------------------------------------- */

static gint compare_objects(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;
	gint order = pp_critical_compare(x, y, OBJECT_HELD);

	if (!order)
		order = pp_critical_compare(x, y, OBJECT_WAITED);
	return order ? order
		     : (x[PP_OBJECT_ADDRESS].count > y[PP_OBJECT_ADDRESS].count) -
			   (x[PP_OBJECT_ADDRESS].count < y[PP_OBJECT_ADDRESS].count);
}

static struct pp_cell *object_row(struct pp_table *table, const struct pp_critical_sums *path,
				  guint id)
{
	const struct pp_critical *critical = path->critical;
	struct pp_cell *row = pp_table_add_row(table);

	if (id == PP_CRITICAL_NO_OBJECT) {
		pp_cell_set_text(&row[PP_OBJECT_NAME], "(none: a wake-up about something else)");
	} else {
		const struct pp_object *object = pp_object_refs_at(&critical->refs, id);

		pp_object_row(row, object, critical->context->namer);
		if (pp_object_is_lock(object) && !object->process->only_waits) {
			pp_cell_set_time(&row[OBJECT_HELD], 0);
			pp_critical_set_share(&row[OBJECT_PCT], 0, path);
		}
	}
	pp_cell_set_count(&row[OBJECT_CROSSINGS], 0);
	pp_cell_set_time(&row[OBJECT_WAITED], 0);
	return row;
}

static struct pp_table *objects_table(const struct pp_critical_sums *path)
{
	struct pp_table *table = pp_table_new("critical_objects", "Critical path: objects",
					      object_columns, N_OBJECT_COLUMNS);
	g_autoptr(GHashTable) rows = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < path->sums->len; i++) {
		const struct pp_chain_entry *entry =
		    &g_array_index(path->sums, struct pp_chain_entry, i);
		enum pp_critical_amount amount = pp_critical_amount_of(entry);
		void *id = GUINT_TO_POINTER(pp_critical_id_of(entry));
		struct pp_cell *row;

		if (amount != PP_CRITICAL_HELD && amount != PP_CRITICAL_CROSSINGS &&
		    amount != PP_CRITICAL_WAITED)
			continue;
		row = g_hash_table_lookup(rows, id);
		if (!row) {
			row = object_row(table, path, pp_critical_id_of(entry));
			g_hash_table_insert(rows, id, row);
		}
		if (amount == PP_CRITICAL_CROSSINGS) {
			pp_cell_set_count(&row[OBJECT_CROSSINGS], (uint64_t)entry->amount);
		} else if (amount == PP_CRITICAL_WAITED) {
			pp_cell_set_time(&row[OBJECT_WAITED], entry->amount);
		} else if (!row[OBJECT_HELD].missing) {
			pp_cell_set_time(&row[OBJECT_HELD], entry->amount);
			pp_critical_set_share(&row[OBJECT_PCT], entry->amount, path);
		}
	}
	g_ptr_array_sort(table->rows, compare_objects);
	table->text_rows = PP_CRITICAL_TEXT_ROWS;
	return table;
}

/* --- call sites ----------------------------------------------------------------------------- */

static gint compare_functions(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;
	gint order = pp_critical_compare_inside(x, y, FUNCTION_PATH, FUNCTION_OUTSIDE);

	return order ? order : g_strcmp0(x[FUNCTION_FUNCTION].text, y[FUNCTION_FUNCTION].text);
}

static gint compare_sites(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;
	gint order = pp_critical_compare_inside(x, y, SITE_PATH, SITE_OUTSIDE);

	return order ? order : g_strcmp0(x[SITE_SITE].text, y[SITE_SITE].text);
}

static char *function_of(const struct pp_critical_sums *path, const struct pp_call_site *place)
{
	const struct pp_namer *namer = path->critical->context->namer;

	if (!place->site)
		return g_strdup("(before the first call)");
	if (!namer || !namer->function)
		return g_strdup_printf("0x%" PRIx64, place->site);
	return namer->function(namer->data, place->process, place->site);
}

#define N_PARTS 5

static unsigned part_of(unsigned mode)
{
	static const unsigned parts[PP_CRITICAL_MODES] = {
	    [PP_MODE_RUNNING] = 0,	    [PP_MODE_RUNNABLE] = 1,	 [PP_MODE_BLOCKED_SYNC] = 2,
	    [PP_MODE_BLOCKED_IO] = 2,	    [PP_MODE_BLOCKED_OTHER] = 2, [PP_MODE_UNKNOWN] = 3,
	    [PP_CRITICAL_MODE_OUTSIDE] = 4,
	};

	return parts[mode];
}

/* Adds the time to the sum in column `path`, and to one of the five parts from column `first`. */
static void add_part(struct pp_cell *row, unsigned path, unsigned first,
		     const struct pp_chain_entry *entry)
{
	for (unsigned part = 0; part < N_PARTS; part++)
		pp_critical_add_time(&row[first + part], 0);
	pp_critical_add_time(&row[path], entry->amount);
	pp_critical_add_time(&row[first + part_of(entry->key & 0xff)], entry->amount);
}

/* A call site's entries, one for each mode, follow each other: `row` is that of the last one. */
static struct pp_cell *add_site(struct pp_table *sites, const struct pp_critical_sums *path,
				const struct pp_call_site *place, struct pp_cell *row,
				const struct pp_chain_entry *entry)
{
	if (!row) {
		g_autofree char *where = pp_call_site_text(place, path->critical->context->namer);

		row = pp_table_add_row(sites);
		pp_cell_set_text(&row[SITE_SITE], where);
		pp_cell_set_text(&row[SITE_CALL], pp_call_site_function(place));
	}
	add_part(row, SITE_PATH, SITE_RUNNING, entry);
	return row;
}

static void finish_function(struct pp_cell *row, const struct pp_critical_sums *path)
{
	struct pp_table *sites = row[FUNCTION_SITES].table;
	const struct pp_cell *first;

	g_ptr_array_sort(sites->rows, compare_sites);
	first = sites->rows->pdata[0];
	if (!first[SITE_CALL].missing && !first[SITE_SITE].missing) {
		g_autofree char *text =
		    g_strdup_printf("%s at %s", first[SITE_CALL].text, first[SITE_SITE].text);

		pp_cell_set_text(&row[FUNCTION_MAIN_SITE], text);
	} else {
		pp_cell_set_text(&row[FUNCTION_MAIN_SITE], "its begin");
	}
	pp_critical_set_share(&row[FUNCTION_PCT],
			      row[FUNCTION_PATH].time_ns - row[FUNCTION_OUTSIDE].time_ns, path);
}

static struct pp_table *sites_table(const struct pp_critical_sums *path)
{
	struct pp_table *table =
	    pp_table_new("critical_sites", "Critical path: since the last synchronization call",
			 function_columns, N_FUNCTION_COLUMNS);
	g_autoptr(GHashTable) rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const struct pp_call_site *last = NULL;
	struct pp_cell *site = NULL;

	for (guint i = 0; i < path->sums->len; i++) {
		const struct pp_chain_entry *entry =
		    &g_array_index(path->sums, struct pp_chain_entry, i);
		const struct pp_call_site *place;
		struct pp_cell *row;
		char *function;

		if (pp_critical_amount_of(entry) != PP_CRITICAL_AFTER_CALL)
			continue;
		place = pp_call_sites_at(&path->critical->places, pp_critical_id_of(entry));
		function = function_of(path, place);
		row = g_hash_table_lookup(rows, function);
		if (!row) {
			row = pp_table_add_row(table);
			pp_cell_set_text(&row[FUNCTION_FUNCTION], function);
			pp_cell_set_table(&row[FUNCTION_SITES],
					  pp_table_new_nested(&function_columns[FUNCTION_SITES]));
			g_hash_table_insert(rows, function, row);
		} else {
			g_free(function);
		}
		add_part(row, FUNCTION_PATH, FUNCTION_RUNNING, entry);
		site = add_site(row[FUNCTION_SITES].table, path, place, place == last ? site : NULL,
				entry);
		last = place;
	}
	for (guint i = 0; i < table->rows->len; i++)
		finish_function(table->rows->pdata[i], path);
	g_ptr_array_sort(table->rows, compare_functions);
	table->text_rows = PP_CRITICAL_TEXT_ROWS;
	if (!path->critical->context->has_calls)
		pp_table_note(table, "only a history of calls shows where the time itself was "
				     "spent: record with `--set calls.mode=history`");
	return table;
}

/* --- finish --------------------------------------------------------------------------------- */

/*
 * The selected thread that ended last.  Of threads ended by the end of their process, only main()
 * counts, since the others did not determine that end.
 */
static const struct pp_thread *last_of(const struct pp_critical *self)
{
	const GPtrArray *threads = self->context->model->threads;
	bool asked = pp_selects_by(self->context, PP_SELECT_THREAD);
	const struct pp_thread *last = NULL;
	int64_t last_ns = INT64_MIN;

	for (guint i = 0; i < threads->len && i < self->tracks->len; i++) {
		const struct pp_thread *thread = threads->pdata[i];
		const struct pp_critical_track *track = self->tracks->pdata[i];

		if (!track || !track->chain.leaf || track->until_ns <= last_ns ||
		    !pp_selects_thread(self->context, thread) ||
		    (!asked && !thread->ended && thread->tid != thread->process->pid))
			continue;
		last = thread;
		last_ns = track->until_ns;
	}
	return last;
}

static int64_t begin_of_all(const struct pp_critical *self)
{
	const GPtrArray *threads = self->context->model->threads;
	int64_t first_ns = INT64_MAX;

	for (guint i = 0; i < threads->len; i++) {
		const struct pp_thread_state *state =
		    pp_thread_state(self->states, threads->pdata[i]);

		if (state && state->begun)
			first_ns = MIN(first_ns, state->start_ns);
	}
	return first_ns;
}

static void note_outside(struct pp_table *table, const struct pp_critical_sums *path)
{
	g_autofree char *outside = pp_duration_text(path->outside_ns);
	g_autofree char *rest = pp_duration_text(path->length_ns - path->outside_ns);

	if (pp_critical_is_outside_shown(path))
		pp_table_note(table,
			      "for %s of this, the program waited for something outside, such as "
			      "input, or for time; the percentages are of the other %s",
			      outside, rest);
}

static void add_notes(struct pp_table *table, const struct pp_critical_sums *path)
{
	const struct pp_critical *self = path->critical;
	int64_t first_ns = path->end ? begin_of_all(self) : 0;
	g_autofree char *length = pp_duration_text(path->length_ns);
	g_autofree char *before = pp_duration_text(path->from_ns - first_ns);

	if (path->end)
		pp_table_note(table, "%s to the end of %s (tid %u)", length,
			      pp_thread_name(path->end) && *pp_thread_name(path->end)
				  ? pp_thread_name(path->end)
				  : "a thread",
			      path->end->tid);
	else
		pp_table_note(table, "no events of any thread: there is no path");
	if (pp_selects_by(self->context, PP_SELECT_TIME))
		pp_table_note(table, "--time: the part of the path within the selected time");
	if (path->end && path->from_ns > first_ns)
		pp_table_note(table,
			      "the creator of its first thread is unknown: the path begins %s "
			      "after the first thread",
			      before);
	note_outside(table, path);
	if (!self->context->has_wakings)
		pp_table_note(table, "no wake-ups in this capture: the path follows only releases "
				     "of synchronization objects");
}

static void add_up_outside(struct pp_critical_sums *path)
{
	for (guint i = 0; i < path->sums->len; i++) {
		const struct pp_chain_entry *entry =
		    &g_array_index(path->sums, struct pp_chain_entry, i);

		if (pp_critical_amount_of(entry) == PP_CRITICAL_OUTSIDE)
			path->outside_ns += entry->amount;
	}
}

void pp_critical_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct pp_critical *self = state;
	struct pp_critical_sums path = {.critical = self};
	struct pp_table *threads, *outside;

	pp_thread_states_finish(self->states, end_ns);
	pp_objects_finish(&self->objects, end_ns);
	pp_critical_fold_objects(self);
	path.end = last_of(self);
	if (path.end) {
		struct pp_critical_track *track = self->tracks->pdata[path.end->serial];

		pp_critical_count_calls(self, track, 0);
		path.sums = pp_chain_sum(&track->chain, &path.from_ns);
		path.length_ns = pp_selected_ns(self->context, path.from_ns, track->until_ns);
	} else {
		path.sums = g_array_new(FALSE, FALSE, sizeof(struct pp_chain_entry));
	}
	add_up_outside(&path);
	threads = threads_table(&path);
	add_notes(threads, &path);
	g_ptr_array_add(tables, threads);
	g_ptr_array_add(tables, objects_table(&path));
	outside = pp_critical_outside_table(&path);
	if (outside)
		g_ptr_array_add(tables, outside);
	if (self->context->has_calls)
		g_ptr_array_add(tables, pp_critical_functions(&path));
	g_ptr_array_add(tables, sites_table(&path));
	pp_critical_segments(&path, tables);
	g_array_unref(path.sums);
}
