/* SPDX-License-Identifier: MIT */
/* The table of functions on the critical path, from the path's sums by function. */
#include <inttypes.h>

#include "pass/critical_path/critical_path.h"

enum { FUNCTION, SELF, PCT, RUNNING, RUNNABLE, BLOCKED, UNKNOWN, OUTSIDE, WITHIN, N_COLUMNS };

static const struct pp_column columns[N_COLUMNS] = {
    [FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY,
		  "function of the innermost active call"},
    [SELF] =
	{"self_ns", "self", PP_TYPE_TIME_NS, 0,
	 "time of the path in it and in unrecorded callees: the sum of the next five time columns"},
    [PCT] = {"self_pct", "path %", PP_TYPE_PERCENT, PP_COLUMN_SHARE, "... as a share of the path"},
    [RUNNING] = {"running_ns", "running", PP_TYPE_TIME_NS, 0, "on a CPU"},
    [RUNNABLE] = {"runnable_ns", "runnable", PP_TYPE_TIME_NS, 0,
		  "new, preempted or woken, and waiting for a CPU"},
    [BLOCKED] = {"blocked_ns", "blocked", PP_TYPE_TIME_NS, 0,
		 "blocked, and not woken by a thread of the program"},
    [UNKNOWN] = {"unknown_ns", "unknown", PP_TYPE_TIME_NS, 0, "unknown from the events"},
    [OUTSIDE] = {"outside_ns", "outside", PP_TYPE_TIME_NS, 0,
		 "blocked without a lock held: for input, a child, or time; no part of the "
		 "percentages"},
    [WITHIN] = {"within_ns", "within", PP_TYPE_TIME_NS, 0,
		"time of the path in it and in its callees"},
};

static gint compare(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;
	gint order = pp_critical_compare_inside(x, y, SELF, OUTSIDE);

	if (!order)
		order = pp_critical_compare(x, y, WITHIN);
	return order ? order : g_strcmp0(x[FUNCTION].text, y[FUNCTION].text);
}

static struct pp_cell *add_row(struct pp_table *table, const struct pp_critical_sums *path,
			       guint number)
{
	const GPtrArray *all = path->critical->functions.all;
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_text(&row[FUNCTION], number == PP_CRITICAL_NO_FUNCTION
					     ? "(before the first call)"
					     : ((struct pp_function *)all->pdata[number])->name);
	for (unsigned column = SELF; column < N_COLUMNS; column++)
		if (column != PCT)
			pp_cell_set_time(&row[column], 0);
	pp_critical_set_share(&row[PCT], 0, path);
	return row;
}

static void add_amount(struct pp_cell *row, const struct pp_critical_sums *path,
		       const struct pp_chain_entry *entry)
{
	static const unsigned columns_of[PP_CRITICAL_MODES] = {
	    [PP_CRITICAL_MODE_OUTSIDE] = OUTSIDE, [PP_MODE_UNKNOWN] = UNKNOWN,
	    [PP_MODE_RUNNING] = RUNNING,	  [PP_MODE_RUNNABLE] = RUNNABLE,
	    [PP_MODE_BLOCKED_SYNC] = BLOCKED,	  [PP_MODE_BLOCKED_IO] = BLOCKED,
	    [PP_MODE_BLOCKED_OTHER] = BLOCKED,
	};

	if (pp_critical_amount_of(entry) == PP_CRITICAL_WITHIN) {
		pp_critical_add_time(&row[WITHIN], entry->amount);
		return;
	}
	pp_critical_add_time(&row[columns_of[entry->key & 0xff]], entry->amount);
	pp_critical_add_time(&row[SELF], entry->amount);
	pp_critical_set_share(&row[PCT], row[SELF].time_ns - row[OUTSIDE].time_ns, path);
	if (pp_critical_id_of(entry) == PP_CRITICAL_NO_FUNCTION)
		pp_critical_add_time(&row[WITHIN], entry->amount);
}

/* Adds notes about possible errors of the times, for threads on the path. */
static void add_notes(struct pp_table *table, const struct pp_critical_sums *path)
{
	const GPtrArray *threads = path->critical->context->model->threads;
	bool without_returns = false;
	uint64_t lost = 0;
	guint last = UINT32_MAX;

	for (guint i = 0; i < path->sums->len; i++) {
		const struct pp_chain_entry *entry =
		    &g_array_index(path->sums, struct pp_chain_entry, i);
		guint serial = pp_critical_id_of(entry);
		const struct pp_critical_track *track;

		if (pp_critical_amount_of(entry) != PP_CRITICAL_IN_MODE || serial == last)
			continue;
		last = serial;
		track = path->critical->tracks->pdata[serial];
		without_returns |= track->has_calls && !track->stack.has_returns;
		lost += ((struct pp_thread *)threads->pdata[serial])->records_lost;
	}
	if (without_returns)
		pp_table_note(table,
			      "returns are not recorded: a function's time lasts from its call to "
			      "the next event elsewhere; gcc's -mfentry -minstrument-return=call "
			      "or -finstrument-functions records returns");
	if (lost)
		pp_table_note(table,
			      "%" PRIu64 " calls and returns of these threads are missing: some of "
			      "the time is attributed to the wrong function",
			      lost);
}

struct pp_table *pp_critical_functions(const struct pp_critical_sums *path)
{
	struct pp_table *table =
	    pp_table_new("critical_functions", "Critical path: functions", columns, N_COLUMNS);
	g_autoptr(GHashTable) rows = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < path->sums->len; i++) {
		const struct pp_chain_entry *entry =
		    &g_array_index(path->sums, struct pp_chain_entry, i);
		void *number = GUINT_TO_POINTER(pp_critical_id_of(entry));
		struct pp_cell *row;

		if (pp_critical_amount_of(entry) != PP_CRITICAL_IN_FUNCTION &&
		    pp_critical_amount_of(entry) != PP_CRITICAL_WITHIN)
			continue;
		row = g_hash_table_lookup(rows, number);
		if (!row) {
			row = add_row(table, path, pp_critical_id_of(entry));
			g_hash_table_insert(rows, number, row);
		}
		add_amount(row, path, entry);
	}
	g_ptr_array_sort(table->rows, compare);
	table->text_rows = PP_CRITICAL_TEXT_ROWS;
	add_notes(table, path);
	return table;
}
