/* SPDX-License-Identifier: MIT */
/*
 * Table 1 of the paper, in full: how each thread spent its lifetime.
 *
 * Figures that the capture cannot provide are missing, and a note gives the reason.  Without
 * scheduling events, only the time blocked on synchronization objects is known.
 */
#include "analysis/select.h"
#include "analysis/thread_cells.h"
#include "analysis/state/thread_state.h"

enum {
	START = PP_N_NAMED_THREAD_CELLS,
	END,
	LIFETIME,
	RUNNING,
	RUNNABLE,
	BLOCKED_SYNC,
	BLOCKED_IO,
	BLOCKED_OTHER,
	UNKNOWN,
	NOT_RUNNING_PCT,
	BLOCKED_PCT,
	VOLUNTARY,
	INVOLUNTARY,
	CALLS,
	PER_ACTIVITY,
};

static const struct pp_column columns[] = {
    PP_NAMED_THREAD_COLUMNS("name"),
    [START] = {"start_ns", "start", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
	       "when it was created, or first seen"},
    [END] = {"end_ns", "end", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
	     "when it ended, or was last seen"},
    [LIFETIME] = {"lifetime_ns", "lifetime", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
		  "from start to end, within the selected time: the sum of the next columns"},
    [RUNNING] = {"running_ns", "running", PP_TYPE_TIME_NS, PP_COLUMN_RANK, "on a CPU"},
    [RUNNABLE] = {"runnable_ns", "runnable", PP_TYPE_TIME_NS, 0,
		  "new, preempted or woken, and waiting for a CPU"},
    [BLOCKED_SYNC] = {"blocked_sync_ns", "sync", PP_TYPE_TIME_NS, 0,
		      "blocked on a synchronization object"},
    [BLOCKED_IO] =
	{"blocked_io_ns", "I/O", PP_TYPE_TIME_NS, PP_COLUMN_DETAIL,
	 "blocked and uninterruptible: block I/O, page faults; also in recorded calls that "
	 "read or write (section io; level full: system calls)"},
    [BLOCKED_OTHER] = {"blocked_other_ns", "other", PP_TYPE_TIME_NS, PP_COLUMN_DETAIL,
		       "blocked otherwise: in sleep(), read(), ..."},
    [UNKNOWN] = {"unknown_ns", "unknown", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,
		 "unknown from the events"},
    [NOT_RUNNING_PCT] = {"not_running_pct", "not run. %", PP_TYPE_PERCENT, 0,
			 "share of the lifetime off the CPU", .mean_over = "lifetime_ns"},
    [BLOCKED_PCT] = {"blocked_pct", "blocked %", PP_TYPE_PERCENT, 0,
		     "share of the lifetime blocked on a synchronization object",
		     .mean_over = "lifetime_ns"},
    [VOLUNTARY] = {"switches_voluntary", "vol.", PP_TYPE_COUNT, PP_COLUMN_DETAIL,
		   "number of times it gave up the CPU to wait"},
    [INVOLUNTARY] = {"switches_involuntary", "invol.", PP_TYPE_COUNT, PP_COLUMN_DETAIL,
		     "number of preemptions"},
    [CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0, "function calls counted"},
    [PER_ACTIVITY] = {"functions_per_activity", "calls/act.", PP_TYPE_RATIO, PP_COLUMN_DETAIL,
		      "calls per period on a CPU"},
};

struct threads {
	const struct pp_pass_context *context;
	struct pp_thread_states *states;
};

static void *threads_start(const struct pp_pass_context *context)
{
	struct threads *self = g_new0(struct threads, 1);

	self->context = context;
	self->states = pp_thread_states_share(context, NULL);
	return self;
}

static void threads_event(void *state, const struct pp_event *event)
{
	struct threads *self = state;

	pp_thread_states_event(self->states, event);
}

/* Percentages refer to the time in known modes. */
static void set_scheduling(struct pp_cell *row, const struct pp_thread_state *life, bool io_known)
{
	int64_t known_ns = pp_thread_lifetime_ns(life) - life->total_ns[PP_MODE_UNKNOWN];

	pp_cell_set_time(&row[RUNNING], life->total_ns[PP_MODE_RUNNING]);
	pp_cell_set_time(&row[RUNNABLE], life->total_ns[PP_MODE_RUNNABLE]);
	pp_cell_set_time(&row[BLOCKED_SYNC], life->total_ns[PP_MODE_BLOCKED_SYNC]);
	if (io_known)
		pp_cell_set_time(&row[BLOCKED_IO], life->total_ns[PP_MODE_BLOCKED_IO]);
	pp_cell_set_time(&row[BLOCKED_OTHER], life->total_ns[PP_MODE_BLOCKED_OTHER]);
	pp_cell_set_time(&row[UNKNOWN], life->total_ns[PP_MODE_UNKNOWN]);
	pp_cell_set_count(&row[VOLUNTARY], life->voluntary);
	pp_cell_set_count(&row[INVOLUNTARY], life->involuntary);
	if (known_ns <= 0)
		return;
	pp_cell_set_number(&row[NOT_RUNNING_PCT],
			   100.0 * (double)(known_ns - life->total_ns[PP_MODE_RUNNING]) /
			       (double)known_ns);
	pp_cell_set_number(&row[BLOCKED_PCT],
			   100.0 * (double)life->total_ns[PP_MODE_BLOCKED_SYNC] / (double)known_ns);
}

/* Without scheduling events. */
static void set_calls(struct pp_cell *row, const struct pp_thread_state *life)
{
	int64_t lifetime_ns = pp_thread_lifetime_ns(life);

	pp_cell_set_time(&row[BLOCKED_SYNC], life->total_ns[PP_MODE_BLOCKED_SYNC]);
	if (life->thread->process->io_recorded) {
		pp_cell_set_time(&row[BLOCKED_IO], life->total_ns[PP_MODE_BLOCKED_IO]);
		pp_cell_set_time(&row[BLOCKED_OTHER], life->total_ns[PP_MODE_BLOCKED_OTHER]);
	}
	if (lifetime_ns > 0)
		pp_cell_set_number(&row[BLOCKED_PCT],
				   100.0 * (double)life->total_ns[PP_MODE_BLOCKED_SYNC] /
				       (double)lifetime_ns);
}

static void add_row(struct pp_table *table, const struct pp_pass_context *context,
		    const struct pp_thread_state *life)
{
	const struct pp_thread *thread = life->thread;
	struct pp_cell *row = pp_named_thread_row(table, thread);
	uint64_t calls;

	pp_cell_set_time(&row[START], life->start_ns);
	pp_cell_set_time(&row[END], life->end_ns);
	pp_cell_set_time(&row[LIFETIME], pp_thread_lifetime_ns(life));
	if (!context->has_kernel)
		set_calls(row, life);
	else if (life->scheduled)
		set_scheduling(row, life,
			       context->has_switch_pairs || thread->process->io_recorded);
	if (!pp_selects_by(context, PP_SELECT_TIME) && pp_thread_calls(thread, &calls)) {
		pp_cell_set_count(&row[CALLS], calls);
		if (context->has_kernel && life->scheduled && life->activities)
			pp_cell_set_number(&row[PER_ACTIVITY],
					   (double)calls / (double)life->activities);
	}
}

static bool is_shown(const struct threads *self, const struct pp_thread_state *life)
{
	return life && life->begun && pp_selects_thread(self->context, life->thread) &&
	       (pp_thread_lifetime_ns(life) > 0 || pp_selects_time(self->context, life->start_ns));
}

/* Notes why call counts are missing, for some threads. */
static void note_not_counted(struct pp_table *table, const struct threads *self)
{
	unsigned unseen = 0, uncounted = 0, attached = 0;
	uint64_t calls;

	for (guint i = 0; i < self->context->model->threads->len; i++) {
		const struct pp_thread *thread = self->context->model->threads->pdata[i];

		if (!is_shown(self, pp_thread_state(self->states, thread)) ||
		    pp_thread_calls(thread, &calls))
			continue;
		unseen += thread->kernel_only;
		attached += thread->process->is_attached && !thread->kernel_only;
		uncounted += !thread->process->is_attached && !thread->kernel_only;
	}
	if (attached)
		pp_table_note(table,
			      "%u of the threads ran before the recording, which attached to their "
			      "process: start is the begin of the recording, calls are unknown",
			      attached);
	if (uncounted)
		pp_table_note(
		    table,
		    "calls of %u of the threads were not counted: their programs were not built "
		    "with -pg, counting was off, or the counts are lost (see quality)",
		    uncounted);
	if (unseen)
		pp_table_note(
		    table,
		    "%u of the threads are known only from kernel events: their calls are unknown",
		    unseen);
}

/* True if blocking calls are recorded. */
static bool has_io(const struct threads *self)
{
	const GPtrArray *processes = self->context->model->processes;

	for (guint i = 0; i < processes->len; i++)
		if (((const struct pp_process *)processes->pdata[i])->io_recorded)
			return true;
	return false;
}

static void add_notes(struct pp_table *table, const struct threads *self)
{
	unsigned not_scheduled = 0, in_doubt = 0;

	if (pp_selects_by(self->context, PP_SELECT_TIME))
		pp_table_note(table, "--time: the times of calls are unknown, so calls are left "
				     "out; start and end are the thread's own");
	else
		note_not_counted(table, self);
	if (!self->context->has_kernel) {
		pp_table_note(
		    table,
		    "no scheduling events in this capture: when threads ran is unknown, and a "
		    "thread counts as blocked from finding an object taken until it acquires it%s",
		    has_io(self) ? ", and in blocking calls from their begin to their end" : "");
		return;
	}
	if (!self->context->has_wakings)
		pp_table_note(table, "the source of scheduling events does not record wake-ups: "
				     "blocked includes the time from wake-up to running");
	if (!self->context->has_switch_pairs)
		pp_table_note(table,
			      "nor does it distinguish I/O from other sleep: all counts as "
			      "other, or as sync inside a synchronization call%s",
			      has_io(self) ? ", except in recorded calls that read or write" : "");
	for (guint i = 0; i < self->context->model->threads->len; i++) {
		const struct pp_thread_state *life =
		    pp_thread_state(self->states, self->context->model->threads->pdata[i]);

		if (!is_shown(self, life))
			continue;
		not_scheduled += !life->scheduled;
		in_doubt += life->scheduled && life->total_ns[PP_MODE_UNKNOWN] > 0;
	}
	if (not_scheduled)
		pp_table_note(table, "there are no scheduling events of %u of the threads",
			      not_scheduled);
	if (in_doubt)
		pp_table_note(
		    table,
		    "scheduling events of %u of the threads are lost, end before they do, or "
		    "contradict each other: the time in unknown states is left out (see quality)",
		    in_doubt);
}

static void threads_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct threads *self = state;
	const GPtrArray *threads = self->context->model->threads;
	struct pp_table *table = pp_table_new("threads", "Threads", columns, G_N_ELEMENTS(columns));

	pp_thread_states_finish(self->states, end_ns);
	for (guint i = 0; i < threads->len; i++) {
		const struct pp_thread_state *life =
		    pp_thread_state(self->states, threads->pdata[i]);

		if (is_shown(self, life))
			add_row(table, self->context, life);
	}
	add_notes(table, self);
	g_ptr_array_add(tables, table);
}

static void threads_free(void *state)
{
	struct threads *self = state;

	pp_thread_states_free(self->states);
	g_free(self);
}

const struct pp_pass pp_pass_threads = {
    .name = "threads",
    .summary = "time in each state",
    .is_default = true,
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_THREAD | PP_SELECT_TIME,
    .has_operations = true,
    .start = threads_start,
    .event = threads_event,
    .finish = threads_finish,
    .free = threads_free,
};
