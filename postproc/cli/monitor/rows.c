/* SPDX-License-Identifier: MIT */
/* Joins what /proc tells of threads with the tables of the passes. */
#include "cli/monitor/rows.h"

#include <inttypes.h>

#include "core/clock.h"
#include "monitor/threads.h"

#define NS_PER_S INT64_C(1000000000)

/* --- times ---------------------------------------------------------------------------------- */

void pp_monitor_times_read(struct pp_monitor_times *times, const struct pp_model *model)
{
	times->time_ns = pp_clock_now_ns();
	times->processes = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];
		GArray *threads = process->is_live ? pp_running_threads((pid_t)process->pid) : NULL;

		if (threads)
			g_hash_table_insert(times->processes, GUINT_TO_POINTER(process->pid),
					    threads);
	}
}

void pp_monitor_times_done(struct pp_monitor_times *times)
{
	g_clear_pointer(&times->processes, g_hash_table_unref);
}

static const struct pp_running_thread *find_thread(const struct pp_monitor_times *times,
						   uint32_t pid, uint32_t tid)
{
	const GArray *threads =
	    times->processes ? g_hash_table_lookup(times->processes, GUINT_TO_POINTER(pid)) : NULL;

	return pp_running_threads_find(threads, tid);
}

/* --- threads -------------------------------------------------------------------------------- */

enum {
	PID,
	TID,
	THREAD,
	STATE,
	RUNNING,
	READY,
	WAITING,
	VOLUNTARY,
	INVOLUNTARY,
	NAME,
	FOR,
	HOLDER
};

static const struct pp_column thread_columns[] = {
    [PID] = {"pid", "pid", PP_TYPE_COUNT, PP_COLUMN_IF_SEVERAL | PP_COLUMN_ID, "process"},
    [TID] = {"tid", "tid", PP_TYPE_COUNT, PP_COLUMN_ID, "thread id"},
    [THREAD] = {"thread", "thread", PP_TYPE_TEXT, PP_COLUMN_KEY, "its name"},
    [STATE] = {"state", "state", PP_TYPE_TEXT, PP_COLUMN_STAYS, "now, as the kernel shows it"},
    [RUNNING] = {"running_pct", "run %", PP_TYPE_PERCENT, PP_COLUMN_MAIN, "time on a CPU"},
    [READY] = {"runnable_pct", "ready %", PP_TYPE_PERCENT, PP_COLUMN_STAYS,
	       "ready, but without a CPU"},
    [WAITING] = {"waiting_pct", "wait %", PP_TYPE_PERCENT, PP_COLUMN_STAYS, "neither"},
    [VOLUNTARY] = {"voluntary_per_s", "vol./s", PP_TYPE_RATIO, 0, "gave up the CPU to wait"},
    [INVOLUNTARY] = {"involuntary_per_s", "invol./s", PP_TYPE_RATIO, 0, "preemptions"},
    [NAME] = {"name", "waits for", PP_TYPE_TEXT, PP_COLUMN_STAYS, "object that it waits for now"},
    [FOR] = {"wait_ns", "for", PP_TYPE_TIME_NS, 0, "since when"},
    [HOLDER] = {"holder", "held by", PP_TYPE_TEXT, PP_COLUMN_STAYS, "thread that holds it"},
};

static const char *state_name(char state)
{
	switch (state) {
	case 'R':
		return "runnable";
	case 'S':
		return "sleeping";
	case 'D':
		return "I/O";
	case 'T':
	case 't':
		return "stopped";
	default:
		return "ended";
	}
}

static void set_shares(struct pp_cell *row, const struct pp_running_thread *before,
		       const struct pp_running_thread *now)
{
	double span = (double)(now->time_ns - before->time_ns);

	if (span <= 0)
		return;
	if (before->has_times && now->has_times) {
		double running = (double)(now->cpu_ns - before->cpu_ns) / span;
		double ready = (double)(now->queued_ns - before->queued_ns) / span;

		running = CLAMP(running, 0, 1);
		ready = CLAMP(ready, 0, 1 - running);
		pp_cell_set_number(&row[RUNNING], 100 * running);
		pp_cell_set_number(&row[READY], 100 * ready);
		pp_cell_set_number(&row[WAITING], 100 * (1 - running - ready));
	}
	if (before->has_switches && now->has_switches) {
		double seconds = span / (double)NS_PER_S;

		pp_cell_set_number(&row[VOLUNTARY],
				   (double)(now->voluntary - before->voluntary) / seconds);
		pp_cell_set_number(&row[INVOLUNTARY],
				   (double)(now->involuntary - before->involuntary) / seconds);
	}
}

static const struct pp_table *table_of(const struct pp_snapshot *snapshot, const char *pass)
{
	unsigned n = 0;
	struct pp_table **tables = pp_pass_set_tables(snapshot->view.passes, pass, &n);

	return n ? tables[0] : NULL;
}

/* Copies the cell; it stays missing if there is none. */
static void copy_cell(struct pp_cell *to, const struct pp_table *from, unsigned row,
		      const char *key, enum pp_type type)
{
	const struct pp_cell *cell = pp_table_cell(from, row, key);

	if (!cell)
		return;
	if (type == PP_TYPE_TEXT)
		pp_cell_set_text(to, cell->text);
	else
		pp_cell_set_time(to, cell->time_ns);
}

/* The rows of `waiting` by two numbers: "PID INDEX" of the thread, "PID ADDRESS" of the object. */
struct waits {
	const struct pp_table *table; /* NULL: none */
	GHashTable *rows;	      /* text -> GArray of guint */
};

static char *key_of(const struct pp_table *table, unsigned row, const char *second)
{
	const struct pp_cell *pid = pp_table_cell(table, row, "pid");
	const struct pp_cell *number = pp_table_cell(table, row, second);

	return pid && number ? g_strdup_printf("%" PRIu64 " %" PRIu64, pid->count, number->count)
			     : NULL;
}

static void waits_init(struct waits *waits, const struct pp_table *table, const char *second)
{
	waits->table = table;
	waits->rows =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
	for (guint i = 0; table && i < table->rows->len; i++) {
		g_autofree char *key = key_of(table, i, second);
		GArray *rows = key ? g_hash_table_lookup(waits->rows, key) : NULL;

		if (key && !rows) {
			rows = g_array_new(FALSE, FALSE, sizeof(guint));
			g_hash_table_insert(waits->rows, g_steal_pointer(&key), rows);
		}
		if (rows)
			g_array_append_val(rows, i);
	}
}

static void waits_done(struct waits *waits)
{
	g_hash_table_unref(waits->rows);
}

/* The rows with these numbers, of guint; NULL: none. */
static const GArray *find_waits(const struct waits *waits, uint64_t pid, uint64_t number)
{
	g_autofree char *key = g_strdup_printf("%" PRIu64 " %" PRIu64, pid, number);

	return g_hash_table_lookup(waits->rows, key);
}

static void add_thread(struct pp_table *table, const struct waits *waits,
		       const struct pp_thread *thread, const struct pp_running_thread *before,
		       const struct pp_running_thread *now)
{
	struct pp_cell *row = pp_table_add_row(table);
	const GArray *rows = find_waits(waits, thread->process->pid, thread->index);
	unsigned at = rows ? g_array_index(rows, guint, 0) : 0;

	pp_cell_set_count(&row[PID], thread->process->pid);
	pp_cell_set_count(&row[TID], thread->tid);
	pp_cell_set_text(&row[THREAD], pp_thread_name(thread));
	pp_cell_set_text(&row[STATE], now ? state_name(now->state) : NULL);
	if (before && now)
		set_shares(row, before, now);
	if (!rows)
		return;
	copy_cell(&row[NAME], waits->table, at, "name", PP_TYPE_TEXT);
	copy_cell(&row[FOR], waits->table, at, "wait_ns", PP_TYPE_TIME_NS);
	copy_cell(&row[HOLDER], waits->table, at, "holder", PP_TYPE_TEXT);
}

static gint by_cpu_time(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;
	double of_x = x[RUNNING].missing ? -1 : x[RUNNING].number;
	double of_y = y[RUNNING].missing ? -1 : y[RUNNING].number;

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return x[TID].count < y[TID].count ? -1 : x[TID].count > y[TID].count;
}

struct pp_table *pp_monitor_threads(const struct pp_snapshot *snapshot,
				    const struct pp_monitor_times *before,
				    const struct pp_monitor_times *now)
{
	const struct pp_model *model = snapshot->view.capture->model;
	struct pp_table *table =
	    pp_table_new("top_threads", "Threads", thread_columns, G_N_ELEMENTS(thread_columns));
	bool is_seen = true;
	struct waits waits;

	waits_init(&waits, table_of(snapshot, "waiting"), "index");
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];
		uint32_t pid = thread->process->pid;
		const struct pp_running_thread *running = find_thread(now, pid, thread->tid);

		if (!thread->process->is_live || thread->ended)
			continue;
		is_seen &= running != NULL;
		add_thread(table, &waits, thread, find_thread(before, pid, thread->tid), running);
	}
	waits_done(&waits);
	g_ptr_array_sort(table->rows, by_cpu_time);
	if (!is_seen)
		pp_table_note(table, "/proc does not show all of the threads: they run in another "
				     "PID namespace, or end just now");
	return table;
}

/* --- objects -------------------------------------------------------------------------------- */

enum { OBJECT, TYPE, OBJECT_NAME, WAITERS, CONTENDED, WAIT, WAITED_AT, HELD_BY, HELD_AT };

static const struct pp_column object_columns[] = {
    [OBJECT] = {"object", "address", PP_TYPE_ADDRESS, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID, ""},
    [TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED, "its type"},
    [OBJECT_NAME] = {"name", "object", PP_TYPE_TEXT, PP_COLUMN_KEY, "its name"},
    [WAITERS] = {"waiters", "waiting", PP_TYPE_COUNT, PP_COLUMN_STAYS, "threads, now"},
    [CONTENDED] = {"contended", "waits", PP_TYPE_COUNT, PP_COLUMN_STAYS, "that ended"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "of all threads together"},
    [WAITED_AT] = {"waited_at", "at", PP_TYPE_TEXT, PP_COLUMN_KEY, "the call that waits longest"},
    [HELD_BY] = {"holder", "held by", PP_TYPE_TEXT, PP_COLUMN_STAYS, "thread that holds it now"},
    [HELD_AT] = {"holder_site", "taken at", PP_TYPE_TEXT, PP_COLUMN_STAYS, "where it took it"},
};

/* Counts the threads that wait for the object now; the one that waits longest tells the holder. */
static void add_waiters(struct pp_cell *row, const struct waits *waits, uint64_t pid)
{
	const GArray *rows = find_waits(waits, pid, row[OBJECT].count);
	unsigned first = rows ? g_array_index(rows, guint, 0) : 0;

	pp_cell_set_count(&row[WAITERS], rows ? rows->len : 0);
	if (!rows)
		return;
	copy_cell(&row[WAITED_AT], waits->table, first, "site", PP_TYPE_TEXT);
	copy_cell(&row[HELD_BY], waits->table, first, "holder", PP_TYPE_TEXT);
	copy_cell(&row[HELD_AT], waits->table, first, "holder_site", PP_TYPE_TEXT);
}

/* The call with most of the waits. */
static void add_call(struct pp_cell *row, const struct pp_table *locks, unsigned at)
{
	const struct pp_cell *sites = pp_table_cell(locks, at, "sites");
	int64_t longest_ns = 0;

	for (guint i = 0; sites && i < sites->table->rows->len; i++) {
		const struct pp_cell *wait = pp_table_cell(sites->table, i, "wait_ns");

		if (!wait || wait->time_ns <= longest_ns)
			continue;
		longest_ns = wait->time_ns;
		copy_cell(&row[WAITED_AT], sites->table, i, "site", PP_TYPE_TEXT);
	}
}

static void add_object(struct pp_table *table, const struct pp_table *locks, unsigned at,
		       const struct waits *waits)
{
	const struct pp_cell *object = pp_table_cell(locks, at, "object");
	const struct pp_cell *pid = pp_table_cell(locks, at, "pid");
	const struct pp_cell *contended = pp_table_cell(locks, at, "contended");
	const struct pp_cell *wait = pp_table_cell(locks, at, "wait_ns");
	struct pp_cell *row;

	if (!wait || wait->time_ns <= 0)
		return;
	row = pp_table_add_row(table);
	copy_cell(&row[TYPE], locks, at, "type", PP_TYPE_TEXT);
	copy_cell(&row[OBJECT_NAME], locks, at, "name", PP_TYPE_TEXT);
	pp_cell_set_time(&row[WAIT], wait->time_ns);
	if (contended)
		pp_cell_set_count(&row[CONTENDED], contended->count);
	if (!object) /* objects that no longer exist */
		return;
	pp_cell_set_count(&row[OBJECT], object->count);
	add_call(row, locks, at);
	if (pid)
		add_waiters(row, waits, pid->count);
}

static gint by_wait(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;

	return x[WAIT].time_ns < y[WAIT].time_ns ? 1 : -(x[WAIT].time_ns > y[WAIT].time_ns);
}

struct pp_table *pp_monitor_objects(const struct pp_snapshot *snapshot)
{
	const struct pp_table *locks = table_of(snapshot, "locks");
	const struct pp_table *now = table_of(snapshot, "waiting");
	struct pp_table *table = pp_table_new("top_objects", "Objects waited for", object_columns,
					      G_N_ELEMENTS(object_columns));
	struct waits waits;

	waits_init(&waits, now, "object");
	for (guint i = 0; locks && i < locks->rows->len; i++)
		add_object(table, locks, i, &waits);
	waits_done(&waits);
	g_ptr_array_sort(table->rows, by_wait);
	for (guint i = 0; now && i < now->notes->len; i++)
		if (g_str_has_prefix(now->notes->pdata[i], "deadlock: "))
			pp_table_note(table, "%s", (const char *)now->notes->pdata[i]);
	return table;
}
