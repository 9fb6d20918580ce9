/* SPDX-License-Identifier: MIT */
/*
 * A summary of the run: the leading cause of waits; what its threads waited for most; what ran, for
 * how long and on how much CPU; and what the recording lacks.  All figures are taken from other
 * sections and added up.
 */
#include <inttypes.h>
#include <string.h>

#include "core/text/command.h"
#include "core/text/duration.h"
#include "core/text/json.h"
#include "core/text/printable.h"
#include "analysis/select.h"
#include "analysis/thread_cells.h"
#include "pass/finding.h"
#include "pass/outside.h"
#include "pass/top.h"
#include "analysis/unrecorded.h"

/* The number of objects and of problems in text. */
#define N_SHOWN 3
/* The number of blocking calls in text. */
#define N_IO_SHOWN 2
/* The width of the finding beside its title, so that it fits any terminal. */
#define FINDING_WIDTH 64

enum {
	FINDING,
	COMMAND,
	ATTACHED,
	FROM,
	EXIT_STATUS,
	SIGNAL,
	WALL,
	PROCESSES,
	IMAGES,
	THREADS,
	CPUS,
	RUNNING,
	CPUS_USED,
	RUNNABLE,
	BLOCKED_SYNC,
	BLOCKED_IO,
	BLOCKED_OTHER,
	OUTSIDE,
	IO_CALLS,
	IO_WAIT,
	IO_IDLE,
	IO_MOST,
	OPENMP,
	CALLS,
	SAMPLES,
	OWN_SAMPLES,
	OWN_TIME,
	SYNC_CALLS,
	SYNC_BLOCKED,
	SYNC_WAIT,
	SYNC_IDLE,
	SYNC_IDLE_RUNNABLE,
	SYNC_RUNNABLE,
	SYNC_RECORDED,
	KERNEL_SOURCE,
	KERNEL_WHY,
	TOP,
	PROBLEMS,
	IS_LIVE,
};

static const struct pp_column columns[] = {
    [FINDING] = PP_FINDING_COLUMN,
    [COMMAND] = {"command", "command", PP_TYPE_TEXT, 0, "as given to record"},
    [ATTACHED] = {"attached", "attached", PP_TYPE_TEXT, 0,
		  "if it ran before the recording: begin and end of that"},
    [FROM] = {"from_ns", "from", PP_TYPE_TIME_NS, 0,
	      "of a ring: from this time on, it has all events"},
    [EXIT_STATUS] = {"exit_status", "exit status", PP_TYPE_COUNT, PP_COLUMN_ID, "none: see signal"},
    [SIGNAL] = {"signal", "signal", PP_TYPE_COUNT, PP_COLUMN_ID, "that ended it"},
    [WALL] = {"wall_ns", "wall time", PP_TYPE_TIME_NS, 0, "from start to end"},
    [PROCESSES] = {"processes", "processes", PP_TYPE_COUNT, 0, "that ran"},
    [IMAGES] = {"images", "images", PP_TYPE_COUNT, 0,
		"number of images: each exec starts another, with rows of its own"},
    [THREADS] = {"threads", "threads", PP_TYPE_COUNT, 0, "in all processes"},
    [CPUS] = {"cpus", "CPUs", PP_TYPE_COUNT, 0, "of the machine"},
    [RUNNING] = {"running_ns", "CPU time", PP_TYPE_TIME_NS, 0, "of all threads"},
    [CPUS_USED] = {"cpus_used", "CPUs used", PP_TYPE_RATIO, 0, "CPU time / wall time"},
    [RUNNABLE] = {"runnable_ns", "runnable", PP_TYPE_TIME_NS, 0,
		  "time in which threads were ready to run without a CPU"},
    [BLOCKED_SYNC] = {"blocked_sync_ns", "sync", PP_TYPE_TIME_NS, 0,
		      "time in which threads were blocked in synchronization"},
    [BLOCKED_IO] = {"blocked_io_ns", "I/O", PP_TYPE_TIME_NS, 0, "... in I/O"},
    [BLOCKED_OTHER] = {"blocked_other_ns", "other", PP_TYPE_TIME_NS, 0,
		       "... otherwise: sleep(), poll(), ..."},
    [OUTSIDE] = {"outside", "outside", PP_TYPE_TEXT, 0,
		 "where threads were blocked outside of recorded operations, if that is much"},
    [IO_CALLS] = {"io_calls", "blocking calls", PP_TYPE_COUNT, 0,
		  "blocking calls, see io; none: not recorded"},
    [IO_WAIT] = {"io_wait_ns", "in blocking calls", PP_TYPE_TIME_NS, 0,
		 "time in these, over all threads"},
    [IO_IDLE] = {"io_idle_ns", "idle in these", PP_TYPE_TIME_NS, 0,
		 "of this, waits for time, for any of several inputs, for connections, children "
		 "and signals"},
    [IO_MOST] = {"io_most", "most", PP_TYPE_TEXT, 0, "the calls with the most time, not idle"},
    [OPENMP] = {"openmp", "OpenMP", PP_TYPE_TEXT, 0,
		"what is not recorded of OpenMP; none: its library was not loaded"},
    [CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0, "function calls counted"},
    [SAMPLES] = {"samples", "samples", PP_TYPE_COUNT, 0, "of CPU time; none: see flat"},
    [OWN_SAMPLES] = {"own_samples", "in gprof-mt", PP_TYPE_COUNT, 0,
		     "of these, in the code of gprof-mt's libraries"},
    [OWN_TIME] = {"own_ns", "time in gprof-mt", PP_TYPE_TIME_NS, 0,
		  "CPU time in it: samples times period"},
    [SYNC_CALLS] = {"sync_calls", "sync calls", PP_TYPE_COUNT, 0, "of synchronization functions"},
    [SYNC_BLOCKED] = {"sync_blocked", "blocked", PP_TYPE_COUNT, 0, "of these"},
    [SYNC_WAIT] = {"sync_wait_ns", "wait", PP_TYPE_TIME_NS, 0,
		   "wait time in these, over all threads"},
    [SYNC_IDLE] = {"sync_idle_ns", "idle", PP_TYPE_TIME_NS, 0,
		   "of this, waits for work, for a thread's end or for time"},
    [SYNC_IDLE_RUNNABLE] = {"sync_idle_runnable_ns", "idle without CPU", PP_TYPE_TIME_NS, 0,
			    "of the idle time, ready to run without a CPU"},
    [SYNC_RUNNABLE] = {"sync_runnable_ns", "without CPU", PP_TYPE_TIME_NS, 0,
		       "of the wait, ready to run without a CPU"},
    [SYNC_RECORDED] = {"sync_recorded", "recorded", PP_TYPE_TEXT, 0,
		       "recorded part of these: sync.mode"},
    [KERNEL_SOURCE] = {"kernel_source", "scheduling", PP_TYPE_TEXT, 0,
		       "source of scheduling events"},
    [KERNEL_WHY] = {"kernel_why", "why", PP_TYPE_TEXT, 0, "reason for this source"},
    [TOP] = PP_TOP_COLUMN,
    [PROBLEMS] = {"problems", "problems", PP_TYPE_COUNT, 0, "rows of the quality section"},
    [IS_LIVE] = {"still_running", "still running", PP_TYPE_COUNT, PP_COLUMN_ID,
		 "1: the program still runs, and the figures are of its first wall_ns"},
};

struct summary {
	const struct pp_pass_context *context;
	struct pp_outside outside;
};

/* --- figures -------------------------------------------------------------------------------- */

static const struct pp_table *find_table(const GPtrArray *tables, const char *key)
{
	for (guint i = 0; i < tables->len; i++) {
		const struct pp_table *table = tables->pdata[i];

		if (strcmp(table->key, key) == 0)
			return table;
	}
	return NULL;
}

/* Adds up a column.  Returns false if all rows lack a value. */
static bool add_up(const struct pp_table *table, const char *key, bool is_time, uint64_t *ret_sum)
{
	bool found = false;

	*ret_sum = 0;
	for (guint r = 0; table && r < table->rows->len; r++) {
		const struct pp_cell *cell = pp_table_cell(table, r, key);

		if (!cell)
			continue;
		*ret_sum += is_time ? (uint64_t)cell->time_ns : cell->count;
		found = true;
	}
	return found;
}

static void set_run(struct pp_cell *row, const struct pp_pass_context *context)
{
	const struct pp_model *model = context->model;
	JsonObject *info = model->info;
	g_autofree char *command = pp_command_text(info);
	int64_t start_ns = pp_json_int(info, "start_ns", model->start_ns);
	int64_t end_ns = pp_json_int(info, "end_ns", model->end_ns);
	int64_t status = pp_json_int(info, "exit_status", -1);
	int64_t signal = pp_json_int(info, "signal", -1);
	int64_t cpus = pp_json_int(pp_json_object(info, "host"), "cpus", 0);
	unsigned processes, threads;

	pp_cell_set_text(&row[COMMAND], command);
	if (status >= 0)
		pp_cell_set_count(&row[EXIT_STATUS], (uint64_t)status);
	if (signal >= 0)
		pp_cell_set_count(&row[SIGNAL], (uint64_t)signal);
	if (start_ns != PP_TIME_UNKNOWN && end_ns > start_ns)
		pp_cell_set_time(&row[WALL], pp_selected_ns(context, start_ns, end_ns));
	if (cpus > 0)
		pp_cell_set_count(&row[CPUS], (uint64_t)cpus);
	pp_model_count(model, &processes, &threads);
	pp_cell_set_count(&row[PROCESSES], processes);
	pp_cell_set_count(&row[IMAGES], model->processes->len);
	pp_cell_set_count(&row[THREADS], threads);
}

/* The part of its run that was recorded, if it ran before. */
static void set_attached(struct pp_cell *row, const struct pp_model *model)
{
	static const struct {
		const char *end, *text;
	} ends[] = {
	    {"duration", "for --duration; it ran on"},
	    {"signal", "until a signal ended the recording; it ran on"},
	    {"exit", "until it ended; its exit status is not known"},
	};
	JsonObject *attached = pp_json_object(model->info, "attached");
	const char *end = pp_json_string(attached, "end");
	g_autofree char *age = pp_duration_text(pp_json_int(attached, "age_ns", 0));
	g_autoptr(GString) text = g_string_new(NULL);

	if (!attached)
		return;
	g_string_printf(text, "recorded from %s after its start on", age);
	for (size_t i = 0; end && i < G_N_ELEMENTS(ends); i++)
		if (strcmp(ends[i].end, end) == 0)
			g_string_append_printf(text, ", %s", ends[i].text);
	pp_cell_set_text(&row[ATTACHED], text->str);
}

/* The time from which the ring has all events. */
static void set_from(struct pp_cell *row, const struct pp_model *model)
{
	if (pp_model_begins_late(model))
		pp_cell_set_time(&row[FROM], model->since_ns - pp_model_origin(model));
}

static void set_calls(struct pp_cell *row, const struct pp_pass_context *context)
{
	const struct pp_model *model = context->model;
	uint64_t calls = 0;
	bool counted = false;

	for (guint t = 0; t < model->threads->len; t++) {
		const struct pp_thread *thread = model->threads->pdata[t];

		if (!pp_selects_thread(context, thread))
			continue;
		counted |= thread->arcs != NULL;
		for (guint i = 0; thread->arcs && i < thread->arcs->len; i++)
			calls += g_array_index(thread->arcs, struct pp_arc, i).count;
	}
	if (counted && !pp_selects_by(context, PP_SELECT_TIME))
		pp_cell_set_count(&row[CALLS], calls);
}

/* The profiler's cost in the program, as far as samples show it. */
static void set_own(struct pp_cell *row, const struct pp_pass_context *context)
{
	const struct pp_namer *namer = context->namer;
	uint64_t n = 0, n_own = 0, own_ns = 0;

	if (!namer || !namer->is_own || pp_selects_by(context, PP_SELECT_TIME))
		return;
	for (guint t = 0; t < context->model->threads->len; t++) {
		const struct pp_thread *thread = context->model->threads->pdata[t];

		if (!thread->samples || !pp_selects_thread(context, thread))
			continue;
		for (guint i = 0; i < thread->samples->len; i++) {
			const struct pp_sample *sample =
			    &g_array_index(thread->samples, struct pp_sample, i);

			n += sample->count;
			if (!namer->is_own(namer->data, thread->process, sample->address))
				continue;
			n_own += sample->count;
			own_ns += sample->count * thread->process->sample_period_ns;
		}
	}
	if (!n)
		return;
	pp_cell_set_count(&row[SAMPLES], n);
	pp_cell_set_count(&row[OWN_SAMPLES], n_own);
	pp_cell_set_time(&row[OWN_TIME], (int64_t)own_ns);
}

/* Sums of the table of threads.  I/O may be unknown where other times are known. */
static const struct {
	unsigned cell;
	const char *key;
} thread_times[] = {
    {RUNNABLE, "runnable_ns"},
    {BLOCKED_SYNC, "blocked_sync_ns"},
    {BLOCKED_IO, "blocked_io_ns"},
    {BLOCKED_OTHER, "blocked_other_ns"},
};

static void set_thread_times(struct pp_cell *row, const struct pp_table *threads,
			     const struct pp_pass_context *context)
{
	uint64_t sum;

	for (unsigned i = 0; i < G_N_ELEMENTS(thread_times); i++) {
		if (thread_times[i].cell == RUNNABLE && !context->has_wakings)
			continue;
		if (add_up(threads, thread_times[i].key, true, &sum))
			pp_cell_set_time(&row[thread_times[i].cell], (int64_t)sum);
	}
}

/* True if operations of OpenMP were recorded. */
static bool has_openmp_operations(const struct pp_table *sync)
{
	for (guint r = 0; sync && r < sync->rows->len; r++) {
		const struct pp_cell *function = pp_table_cell(sync, r, "function");

		if (function && (g_str_has_prefix(function->text, "GOMP_") ||
				 g_str_has_prefix(function->text, "omp_")))
			return true;
	}
	return false;
}

/* What the program waits for in other ways than by recorded functions. */
static void set_outside(struct pp_cell *row, const struct summary *self,
			const struct pp_table *sync)
{
	const struct pp_model *model = self->context->model;
	int64_t blocked_ns = row[BLOCKED_IO].time_ns + row[BLOCKED_OTHER].time_ns;
	int64_t total_ns =
	    row[RUNNING].time_ns + row[RUNNABLE].time_ns + row[BLOCKED_SYNC].time_ns + blocked_ns;
	g_autofree char *text = pp_outside_text(&self->outside, total_ns, blocked_ns);

	if (text)
		pp_cell_set_text(&row[OUTSIDE], text);
	for (guint i = 0; i < model->processes->len; i++)
		if (((const struct pp_process *)model->processes->pdata[i])->has_openmp)
			pp_cell_set_text(&row[OPENMP],
					 has_openmp_operations(sync)
					     ? "ordered regions, doacross loops and the waits of "
					       "taskloop are not recorded"
					     : "its library waits by means of its own: critical "
					       "sections, locks and barriers are not recorded");
}

static void set_io(struct pp_cell *row, const struct pp_table *io)
{
	g_autofree char *most = pp_top_io_text(io, 0, 1);
	uint64_t sum;

	if (add_up(io, "calls", false, &sum))
		pp_cell_set_count(&row[IO_CALLS], sum);
	if (add_up(io, "wait_ns", true, &sum))
		pp_cell_set_time(&row[IO_WAIT], (int64_t)sum);
	if (add_up(io, "idle_ns", true, &sum))
		pp_cell_set_time(&row[IO_IDLE], (int64_t)sum);
	pp_cell_set_text(&row[IO_MOST], most);
}

static void set_sums(struct pp_cell *row, const GPtrArray *tables,
		     const struct pp_pass_context *context)
{
	const struct pp_table *threads = find_table(tables, "threads");
	const struct pp_table *sync = find_table(tables, "sync");
	uint64_t sum;

	if (add_up(threads, "running_ns", true, &sum)) {
		pp_cell_set_time(&row[RUNNING], (int64_t)sum);
		if (!row[WALL].missing && row[WALL].time_ns)
			pp_cell_set_number(&row[CPUS_USED],
					   (double)sum / (double)row[WALL].time_ns);
	}
	set_thread_times(row, threads, context);
	if (add_up(find_table(tables, "locks"), "wait_runnable_ns", true, &sum))
		pp_cell_set_time(&row[SYNC_RUNNABLE], (int64_t)sum);
	if (add_up(find_table(tables, "locks"), "idle_ns", true, &sum))
		pp_cell_set_time(&row[SYNC_IDLE], (int64_t)sum);
	if (add_up(find_table(tables, "locks"), "idle_runnable_ns", true, &sum))
		pp_cell_set_time(&row[SYNC_IDLE_RUNNABLE], (int64_t)sum);
	set_io(row, find_table(tables, "io"));
	if (add_up(sync, "calls", false, &sum))
		pp_cell_set_count(&row[SYNC_CALLS], sum);
	if (add_up(sync, "blocked", false, &sum))
		pp_cell_set_count(&row[SYNC_BLOCKED], sum);
	if (add_up(sync, "wait_ns", true, &sum))
		pp_cell_set_time(&row[SYNC_WAIT], (int64_t)sum);
}

static void set_mode(struct pp_cell *row, const struct pp_model *model)
{
	bool is_full;
	g_autofree char *mode = pp_unrecorded_mode(model, &is_full);

	if (mode)
		pp_cell_set_text(&row[SYNC_RECORDED], mode);
}

static void set_kernel(struct pp_cell *row, const struct pp_pass_context *context)
{
	JsonObject *kernel = pp_json_object(context->model->info, "kernel");
	const char *source = pp_json_string(kernel, "source");

	if (!source && context->has_kernel)
		source = context->has_switch_pairs ? "perf" : "switches";
	pp_cell_set_text(&row[KERNEL_SOURCE], source ? source : "none");
	pp_cell_set_text(&row[KERNEL_WHY], pp_json_string(kernel, "why"));
}

/* --- text ----------------------------------------------------------------------------------- */

static void append_item(GString *text, const char *title, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Appends an item in one line, with newlines replaced. */
static void append_item(GString *text, const char *title, const char *format, ...)
{
	g_autofree char *item = NULL;
	va_list args;

	va_start(args, format);
	item = g_strdup_vprintf(format, args);
	va_end(args);
	g_string_append_printf(text, "  %-12s %s\n", title, pp_printable(item));
}

static void append_finding(GString *text, const struct pp_table *finding)
{
	g_auto(GStrv) lines = pp_finding_lines(finding, FINDING_WIDTH);

	for (unsigned i = 0; lines && lines[i]; i++)
		append_item(text, i ? "" : "finding", "%s", lines[i]);
}

static void append_threads(GString *text, const struct pp_cell *row, const struct pp_model *model)
{
	g_autofree char *images =
	    row[IMAGES].count > row[PROCESSES].count
		? g_strdup_printf(", in %" PRIu64 " images", row[IMAGES].count)
		: g_strdup("");

	if (row[PROCESSES].count == 1)
		append_item(text, "threads", "%" PRIu64 " of process %" PRIu32 "%s",
			    row[THREADS].count,
			    ((struct pp_process *)model->processes->pdata[0])->pid, images);
	else
		append_item(text, "threads", "%" PRIu64 " of %" PRIu64 " processes%s",
			    row[THREADS].count, row[PROCESSES].count, images);
}

static void append_run(GString *text, const struct pp_cell *row, const struct pp_model *model)
{
	g_autofree char *live = pp_model_live_text(model);
	g_autofree char *ring = pp_model_ring_text(model);

	if (!row[COMMAND].missing)
		append_item(text, "command", "%s", row[COMMAND].text);
	if (!row[ATTACHED].missing)
		append_item(text, "attached", "%s", row[ATTACHED].text);
	if (live)
		append_item(text, "state", "%s", live);
	if (ring)
		append_item(text, "part", "%s", ring);
	if (!row[WALL].missing) {
		g_autofree char *wall = pp_duration_text(row[WALL].time_ns);

		append_item(text, "wall time", "%s", wall);
	}
	append_threads(text, row, model);
}

static void append_end(GString *text, const struct pp_cell *row)
{
	if (!row[SIGNAL].missing)
		append_item(text, "ended", "by signal %" PRIu64, row[SIGNAL].count);
	else if (!row[EXIT_STATUS].missing)
		append_item(text, "ended", "with status %" PRIu64, row[EXIT_STATUS].count);
}

static void append_time(GString *text, const char *title, const struct pp_cell *cell)
{
	g_autofree char *time = cell->missing ? NULL : pp_duration_text(cell->time_ns);

	if (time)
		g_string_append_printf(text, "%s%s %s", text->len ? ", " : "", title, time);
}

/* Whether more CPUs would have helped most. */
static void append_limit(GString *text, const struct pp_cell *row)
{
	int64_t idle_ns = row[SYNC_IDLE].time_ns - row[SYNC_IDLE_RUNNABLE].time_ns;
	int64_t blocked_ns = MAX(row[BLOCKED_SYNC].time_ns - idle_ns, 0) + row[BLOCKED_IO].time_ns;

	if (!row[RUNNING].missing && !row[RUNNABLE].missing && row[RUNNABLE].time_ns > blocked_ns &&
	    row[RUNNABLE].time_ns > row[RUNNING].time_ns / 4)
		append_item(text, "limit",
			    "the machine: threads were ready without a CPU for longer "
			    "than they were blocked in I/O and in synchronization, idle waits "
			    "apart");
}

/* How the threads' time was divided. */
static void append_thread_times(GString *text, const struct pp_cell *row)
{
	g_autoptr(GString) times = g_string_new(NULL);

	if (row[RUNNING].missing)
		return;
	append_time(times, "running", &row[RUNNING]);
	append_time(times, "ready without a CPU", &row[RUNNABLE]);
	append_time(times, "blocked in synchronization", &row[BLOCKED_SYNC]);
	append_time(times, "in I/O", &row[BLOCKED_IO]);
	append_time(times, "otherwise", &row[BLOCKED_OTHER]);
	append_item(text, "thread time", "%s", times->str);
}

static void append_cpu(GString *text, const struct pp_cell *row)
{
	g_autofree char *running = pp_duration_text(row[RUNNING].time_ns);

	if (row[RUNNING].missing)
		append_item(text, "CPU time", "not known: no scheduling events");
	else if (row[CPUS_USED].missing)
		append_item(text, "CPU time", "%s", running);
	else if (row[CPUS].missing)
		append_item(text, "CPU time", "%s: %.2f CPUs in use", running,
			    row[CPUS_USED].number);
	else
		append_item(text, "CPU time", "%s: %.2f of %" PRIu64 " CPUs in use", running,
			    row[CPUS_USED].number, row[CPUS].count);
	append_thread_times(text, row);
}

static void append_io(GString *text, const struct pp_cell *row, const struct pp_table *io)
{
	g_autofree char *idle = pp_top_io_idle_text(io, 1);

	if (row[IO_CALLS].missing)
		return;
	for (unsigned r = 0; r < N_IO_SHOWN; r++) {
		g_autofree char *line = pp_top_io_text(io, r, 1);

		if (line)
			append_item(text, r ? "" : "blocked most", "%s", line);
	}
	if (idle)
		append_item(text, "idle", "%s", idle);
}

static void append_use(GString *text, const struct pp_cell *row, bool is_part)
{
	g_autofree char *wait = pp_duration_text(row[SYNC_WAIT].time_ns);
	g_autofree char *without_cpu = pp_duration_text(row[SYNC_RUNNABLE].time_ns);
	g_autofree char *idle_time = pp_duration_text(row[SYNC_IDLE].time_ns);
	g_autofree char *idle = row[SYNC_IDLE].missing || !row[SYNC_IDLE].time_ns
				    ? NULL
				    : g_strdup_printf(", %s of it idle", idle_time);
	g_autofree char *runnable = row[SYNC_RUNNABLE].missing || !row[SYNC_RUNNABLE].time_ns
					? NULL
					: g_strdup_printf(", %s of it without a CPU", without_cpu);

	if (!row[OUTSIDE].missing)
		append_item(text, "outside", "%s", row[OUTSIDE].text);
	if (!row[OPENMP].missing)
		append_item(text, "OpenMP", "%s", row[OPENMP].text);
	if (row[CALLS].missing && is_part)
		append_item(text, "calls", "when they were made is not known");
	else if (row[CALLS].missing && !row[ATTACHED].missing)
		append_item(text, "calls", "not counted: gprof-mt attached to the running process");
	else if (row[CALLS].missing)
		append_item(text, "calls",
			    "not counted: the program was not built with -pg, or "
			    "counting was off");
	else
		append_item(text, "calls", "%" PRIu64, row[CALLS].count);
	if (!row[SAMPLES].missing) {
		g_autofree char *own = pp_duration_text(row[OWN_TIME].time_ns);
		uint64_t n_own = row[OWN_SAMPLES].count, n = row[SAMPLES].count;
		g_autofree char *share =
		    n < PP_MIN_SAMPLES
			? g_strdup("")
			: g_strdup_printf(" (%.1f %%)", 100.0 * (double)n_own / (double)n);

		append_item(text, "profiler",
			    "%" PRIu64 " of %" PRIu64 " samples%s, %s of CPU time, in gprof-mt's "
			    "own code",
			    n_own, n, share, own);
	}
	if (row[SYNC_CALLS].missing)
		append_item(text, "sync", "no synchronization calls recorded%s",
			    row[ATTACHED].missing ? ""
						  : ": gprof-mt attached to the running process");
	else if (row[SYNC_BLOCKED].missing)
		append_item(text, "sync", "%" PRIu64 " calls, %s waited", row[SYNC_CALLS].count,
			    row[SYNC_WAIT].missing ? "no time" : wait);
	else
		append_item(text, "sync", "%" PRIu64 " calls, %" PRIu64 " blocked, %s waited%s%s",
			    row[SYNC_CALLS].count, row[SYNC_BLOCKED].count, wait, idle ? idle : "",
			    runnable ? runnable : "");
	if (!row[SYNC_RECORDED].missing)
		append_item(text, "", "recorded %s", row[SYNC_RECORDED].text);
	append_item(text, "scheduling", "%s%s%s", row[KERNEL_SOURCE].text,
		    row[KERNEL_WHY].missing ? "" : ": ",
		    row[KERNEL_WHY].missing ? "" : row[KERNEL_WHY].text);
}

static void append_top(GString *text, const struct pp_table *top, const struct pp_table *locks)
{
	g_autofree char *idle = pp_top_idle_text(locks, 1);

	for (guint r = 0; r < top->rows->len; r++) {
		g_autofree char *line = pp_top_text(top, r, "");

		append_item(text, r ? "" : "waited most", "%s", line);
	}
	if (idle)
		append_item(text, "idle", "%s", idle);
}

static void append_problems(GString *text, const struct pp_model *model)
{
	if (!model->problems->len)
		append_item(text, "lost", "%s",
			    pp_model_is_live(model) ? "not known before the program has ended"
						    : "nothing");
	for (guint i = 0; i < model->problems->len && i < N_SHOWN; i++) {
		const struct pp_problem *problem = model->problems->pdata[i];
		g_autofree char *count =
		    problem->count ? g_strdup_printf("%" PRIu64 " ", problem->count) : g_strdup("");

		append_item(text, i ? "" : "lost", "%s%s: %s", count, problem->what,
			    problem->where);
	}
	if (model->problems->len > N_SHOWN)
		append_item(text, "", "and %u more: see `gprof-mt report quality`",
			    model->problems->len - N_SHOWN);
}

/* -------------------------------------------------------------------------------------------- */

static void *summary_start(const struct pp_pass_context *context)
{
	struct summary *self = g_new0(struct summary, 1);

	self->context = context;
	pp_outside_init(&self->outside, context);
	return self;
}

static void summary_event(void *state, const struct pp_event *event)
{
	struct summary *self = state;

	pp_outside_event(&self->outside, event);
}

static void summary_free(void *state)
{
	struct summary *self = state;

	pp_outside_done(&self->outside);
	g_free(self);
}

static void summary_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	const struct summary *self = state;
	const struct pp_model *model = self->context->model;
	struct pp_table *table = pp_table_new("summary", "Summary", columns, G_N_ELEMENTS(columns));
	struct pp_cell *row = pp_table_add_row(table);
	struct pp_table *top = pp_top_new(find_table(tables, "locks"), N_SHOWN);
	GString *text = g_string_new(NULL);

	(void)end_ns;
	set_run(row, self->context);
	set_attached(row, model);
	set_from(row, model);
	set_calls(row, self->context);
	set_own(row, self->context);
	set_sums(row, tables, self->context);
	set_outside(row, self, find_table(tables, "sync"));
	set_mode(row, model);
	set_kernel(row, self->context);
	pp_cell_set_table(&row[FINDING], pp_finding_copy(find_table(tables, "finding")));
	pp_cell_set_table(&row[TOP], top);
	pp_cell_set_count(&row[PROBLEMS], model->problems->len);
	if (pp_model_is_live(model))
		pp_cell_set_count(&row[IS_LIVE], 1);
	/* The cause and the longest waits come first: readers look at ten lines. */
	append_finding(text, row[FINDING].table);
	append_limit(text, row);
	append_top(text, top, find_table(tables, "locks"));
	append_io(text, row, find_table(tables, "io"));
	append_run(text, row, model);
	append_cpu(text, row);
	append_end(text, row);
	append_use(text, row, pp_selects_by(self->context, PP_SELECT_TIME));
	append_problems(text, model);
	table->text = g_string_free(text, FALSE);
	if (self->context->selection)
		pp_table_note(table,
			      "wall time, CPU time, calls, sync and waits are of the selection, "
			      "where it applies; the rest is of the whole capture");
	g_ptr_array_add(tables, table);
}

static const char *const needs[] = {"finding", "threads", "sync", "locks", "io", NULL};

const struct pp_pass pp_pass_summary = {
    .name = "summary",
    .summary = "commands, waits, losses",
    .is_default = true,
    .needs = needs,
    .kinds = PP_EVENT_MASK(PP_EVENT_LOST) | PP_OUTSIDE_KINDS,
    .selects = PP_SELECT_ALL,
    .has_operations = true,
    .start = summary_start,
    .event = summary_event,
    .finish = summary_finish,
    .free = summary_free,
};
