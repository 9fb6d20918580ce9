/* SPDX-License-Identifier: MIT */
/*
 * See thread_state.h.  This file decides what each event means for its thread: whether its lifetime
 * begins, which mode ends and begins, and which operation begins or returns.
 *
 * A thread that the runtime saw first was running at that time.  A thread that ran before a
 * recording of a running process was in the state that /proc told, or else in that which its first
 * event ends: a switch-out ends running, a wake-up ends sleeping, and a switch-in ends the wait for
 * a CPU.  A forked thread is runnable until it is switched in.  A wake-up may precede the switch
 * that blocks its thread, if the waker runs on another CPU while the thread is still inside the
 * scheduler.  Such a wake-up is remembered; if no other follows before the thread runs again, the
 * thread was runnable all the time.
 */
#include "analysis/state/thread_state.h"

#include <string.h>

#include "analysis/state/exec_image.h"
#include "analysis/state/thread_io.h"
#include "analysis/state/thread_listeners.h"
#include "analysis/select.h"

struct pp_cpu {
	struct pp_thread_state *current; /* NULL: a thread outside the capture, or not known */
	int64_t last_ns;		 /* time of the last switch on this CPU */
};

struct pp_thread_states {
	struct pp_mode_observer observer;
	const struct pp_model *model;
	struct pp_anomalies *anomalies;
	bool has_kernel, has_wakings;
	bool unseen;	    /* recording of at least one CPU has ended */
	GPtrArray *threads; /* by serial, of struct pp_thread_state *; NULL: no event yet */
	GHashTable *by_tid; /* tid -> the state of the last thread with that tid */
	GArray *cpus;	    /* of struct pp_cpu */
	/* If several passes share it: */
	struct pp_pass_shared *shared; /* NULL: only one has it */
	struct pp_thread_listeners listeners;
	unsigned n_users;
	uint64_t n_followed; /* the last event, as shared->n_events */
	bool finished;
};

static const struct pp_thread_listener no_listener;

struct pp_thread_states *pp_thread_states_new(const struct pp_pass_context *context,
					      const struct pp_thread_listener *listener,
					      struct pp_anomalies *anomalies)
{
	struct pp_thread_states *states = g_new0(struct pp_thread_states, 1);

	states->observer.context = context;
	states->model = context->model;
	states->observer.listener = listener ? listener : &no_listener;
	states->anomalies = anomalies;
	states->has_kernel = context->has_kernel;
	states->has_wakings = context->has_kernel && context->has_wakings;
	states->threads = g_ptr_array_new_with_free_func(g_free);
	states->by_tid = g_hash_table_new(NULL, NULL);
	states->cpus = g_array_new(FALSE, TRUE, sizeof(struct pp_cpu));
	states->n_users = 1;
	return states;
}

struct pp_thread_states *pp_thread_states_share(const struct pp_pass_context *context,
						const struct pp_thread_listener *listener)
{
	struct pp_thread_states *states = context->shared ? context->shared->states : NULL;

	if (!context->shared)
		return pp_thread_states_new(context, listener, NULL);
	if (!states) {
		states = pp_thread_states_new(context, NULL, NULL);
		states->n_users = 0;
		states->shared = context->shared;
		context->shared->states = states;
		pp_thread_listeners_init(&states->listeners);
	}
	states->n_users++;
	if (listener)
		states->observer.listener = pp_thread_listeners_add(&states->listeners, listener);
	return states;
}

void pp_thread_states_free(struct pp_thread_states *states)
{
	if (!states || --states->n_users > 0)
		return;
	if (states->shared) {
		states->shared->states = NULL;
		pp_thread_listeners_done(&states->listeners);
	}
	g_ptr_array_unref(states->threads);
	g_hash_table_unref(states->by_tid);
	g_array_unref(states->cpus);
	g_free(states);
}

bool pp_operation_blocked(const struct pp_thread_states *states,
			  const struct pp_operation *operation)
{
	return states->has_kernel ? operation->descheduled : operation->waited;
}

const struct pp_thread_state *pp_thread_state(const struct pp_thread_states *states,
					      const struct pp_thread *thread)
{
	return thread->serial < states->threads->len ? states->threads->pdata[thread->serial]
						     : NULL;
}

int64_t pp_thread_lifetimes_ns(const struct pp_thread_states *states, const struct pp_model *model)
{
	int64_t sum_ns = 0;

	for (guint i = 0; i < model->threads->len; i++)
		sum_ns += pp_thread_lifetime_ns(pp_thread_state(states, model->threads->pdata[i]));
	return sum_ns;
}

bool pp_thread_blocking_known(const struct pp_thread_states *states, const struct pp_thread *thread)
{
	const struct pp_thread_state *self = pp_thread_state(states, thread);

	return !states->has_kernel || (self && self->scheduled);
}

const struct pp_operation *pp_thread_operation(const struct pp_thread_states *states,
					       const struct pp_thread *thread)
{
	const struct pp_thread_state *self = pp_thread_state(states, thread);

	return self && self->operations.depth
		   ? &self->operations.operations[self->operations.depth - 1]
		   : NULL;
}

static struct pp_thread_state *state_of(struct pp_thread_states *states,
					const struct pp_thread *thread)
{
	struct pp_thread_state *self;

	pp_by_serial_reach(states->threads, thread->serial);
	self = states->threads->pdata[thread->serial];
	if (!self) {
		self = g_new0(struct pp_thread_state, 1);
		self->thread = thread;
		self->cpu = PP_CPU_UNKNOWN;
		states->threads->pdata[thread->serial] = self;
	}
	return self;
}

static void add_anomaly(struct pp_thread_states *states, enum pp_anomaly kind,
			const struct pp_thread_state *self)
{
	pp_anomaly_add(states->anomalies, kind, self->thread);
}

/* The mode of an active thread: it runs, but its switches may no longer be recorded. */
static enum pp_mode mode_seen(const struct pp_thread_states *states)
{
	return states->has_kernel && !states->unseen ? PP_MODE_RUNNING : PP_MODE_UNKNOWN;
}

/* --- start and end -------------------------------------------------------------------------- */

static void report_operation(struct pp_thread_states *states, const struct pp_operation *operation)
{
	const struct pp_thread_listener *listener = states->observer.listener;

	if (listener->operation)
		listener->operation(listener->data, operation);
}

/* Gives up the operations from position `keep` on: they will not return. */
static void give_up(struct pp_thread_states *states, struct pp_thread_state *self, unsigned keep,
		    int64_t end_ns)
{
	while (self->operations.depth > keep)
		report_operation(states, pp_operations_give_up(&self->operations, end_ns));
}

/* Ends the thread's lifetime and its open operations.  `mode`: its mode since the last change. */
static void end_life(struct pp_thread_states *states, struct pp_thread_state *self, int64_t now_ns,
		     enum pp_mode mode)
{
	const struct pp_thread_listener *listener = states->observer.listener;

	pp_mode_close(&states->observer, self, now_ns, mode);
	if (self->in_io)
		pp_thread_io_cut(&states->observer, self, now_ns);
	give_up(states, self, 0, now_ns);
	self->over = true;
	if (listener->ended)
		listener->ended(listener->data, self->thread);
}

/* Also ends the previous thread with the same tid, if no event did. */
static void start_life(struct pp_thread_states *states, struct pp_thread_state *self,
		       int64_t now_ns, enum pp_mode mode)
{
	const struct pp_thread_listener *listener = states->observer.listener;
	void *tid = GUINT_TO_POINTER(self->thread->tid);
	struct pp_thread_state *before = g_hash_table_lookup(states->by_tid, tid);

	if (before && before != self && !before->over && before->start_ns <= now_ns)
		end_life(states, before, now_ns, PP_MODE_UNKNOWN);
	if (!before || before->start_ns <= now_ns)
		g_hash_table_insert(states->by_tid, tid, self);
	self->begun = true;
	self->start_ns = now_ns;
	self->end_ns = now_ns;
	self->since_ns = now_ns;
	self->last_ns = now_ns;
	pp_mode_enter(&states->observer, self, mode);
	if (listener->started)
		listener->started(listener->data, self->thread);
}

/* A thread whose first scheduling events were not recorded, or are not in the ring any more. */
static bool ran_before(const struct pp_thread_states *states, const struct pp_thread *thread)
{
	if (pp_model_begins_late(states->model))
		return states->has_kernel && thread->start_ns < states->model->since_ns;
	return thread->process->is_attached && !thread->kernel_only;
}

/* In which mode is not known yet. */
static void start_undecided(struct pp_thread_states *states, struct pp_thread_state *self,
			    int64_t now_ns)
{
	start_life(states, self, now_ns, PP_MODE_UNKNOWN);
	self->is_undecided = states->has_kernel;
}

/* An event tells that an undecided thread was in `mode` until now_ns. */
static void decide(struct pp_thread_states *states, struct pp_thread_state *self, int64_t now_ns,
		   enum pp_mode mode)
{
	if (!self->is_undecided)
		return;
	self->is_undecided = false;
	pp_mode_close(&states->observer, self, now_ns, mode);
}

/*
 * The state of an event's thread.  Its lifetime begins, in mode running, when the runtime first saw
 * it.  Returns NULL if the event must be ignored: after the thread's end, or before its begin (only
 * a fork or an exec begins a lifetime earlier).
 */
static struct pp_thread_state *touch(struct pp_thread_states *states,
				     const struct pp_thread *thread, int64_t now_ns)
{
	struct pp_thread_state *self = state_of(states, thread);

	if (self->over)
		return NULL;
	if (!self->begun) {
		if (thread->start_ns > now_ns)
			return NULL;
		if (ran_before(states, thread))
			start_undecided(states, self, thread->start_ns);
		else
			start_life(states, self,
				   thread->start_ns == PP_TIME_UNKNOWN ? now_ns : thread->start_ns,
				   mode_seen(states));
	}
	if (now_ns > self->last_ns)
		self->last_ns = now_ns;
	return self;
}

/* --- operations ----------------------------------------------------------------------------- */

static void begin_wait(struct pp_thread_states *states, struct pp_thread_state *self,
		       const struct pp_event *event)
{
	const struct pp_thread_listener *listener = states->observer.listener;
	enum st_event op = pp_sync_completion(event->sync.op);
	int at = pp_operations_find(&self->operations, op, event->sync.object);
	const struct pp_operation *operation;

	if (at < 0 && self->operations.depth == PP_OPERATION_DEPTH)
		at = PP_OPERATION_DEPTH - 1;
	if (at >= 0) {
		add_anomaly(states, PP_ANOMALY_BEGIN_NO_COMPLETION, self);
		give_up(states, self, (unsigned)at, PP_TIME_UNKNOWN);
	}
	if (!states->has_kernel && !pp_sync_has(op, PP_SYNC_SPINS))
		pp_mode_change(&states->observer, self, event->time_ns, PP_MODE_BLOCKED_SYNC);
	operation = pp_operations_begin(&self->operations, event);
	if (listener->begin)
		listener->begin(listener->data, operation);
}

/* Ends the operation at this position, which has returned, and gives up those inside it. */
static struct pp_operation end_wait(struct pp_thread_states *states, struct pp_thread_state *self,
				    unsigned at, int64_t now_ns)
{
	struct pp_operation operation;

	for (unsigned i = at + 1; i < self->operations.depth; i++)
		add_anomaly(states, PP_ANOMALY_BEGIN_NO_COMPLETION, self);
	give_up(states, self, at + 1, PP_TIME_UNKNOWN);
	if (!states->has_kernel)
		pp_mode_close(&states->observer, self, now_ns, self->mode);
	operation = self->operations.operations[at];
	self->operations.depth = at;
	if (!states->has_kernel && !at)
		pp_mode_enter(&states->observer, self, PP_MODE_UNKNOWN);
	return operation;
}

static void complete(struct pp_thread_states *states, struct pp_thread_state *self,
		     const struct pp_event *event)
{
	int at = pp_operations_find(&self->operations, event->sync.op, event->sync.object);
	struct pp_operation operation;

	if (at >= 0) {
		operation = end_wait(states, self, (unsigned)at, event->time_ns);
	} else {
		pp_operation_set_immediate(&operation, event);
		if (pp_sync_has(event->sync.op, PP_SYNC_YIELDS))
			add_anomaly(states, PP_ANOMALY_COMPLETION_NO_BEGIN, self);
	}
	/* Whether it gave up the CPU was not recorded. */
	if (states->unseen && self->mode == PP_MODE_UNKNOWN)
		operation.descheduled |= operation.waited;
	pp_operation_complete(&operation, event);
	report_operation(states, &operation);
}

/* The state of a thread that runs, since its libraries recorded the event. */
static struct pp_thread_state *touch_running(struct pp_thread_states *states,
					     const struct pp_event *event)
{
	struct pp_thread_state *self = touch(states, event->thread, event->time_ns);

	if (!self) {
		self = state_of(states, event->thread);
		if (self->over)
			add_anomaly(states, PP_ANOMALY_AFTER_END, self);
		else
			start_life(states, self, event->time_ns, mode_seen(states));
	} else if (states->has_kernel && self->mode == PP_MODE_UNKNOWN) {
		pp_mode_change(&states->observer, self, event->time_ns, mode_seen(states));
	} else if (states->has_kernel && self->mode != PP_MODE_RUNNING) {
		/* The thread runs, but its switch-in was not recorded. */
		add_anomaly(states, PP_ANOMALY_SYNC_WHILE_OFF, self);
		pp_mode_close(&states->observer, self, event->time_ns, PP_MODE_UNKNOWN);
		pp_mode_enter(&states->observer, self, mode_seen(states));
	}
	return self;
}

static void on_sync(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch_running(states, event);

	if (pp_sync_has(event->sync.op, PP_SYNC_BEGIN))
		begin_wait(states, self, event);
	else if (!pp_sync_has(event->sync.op, PP_SYNC_DEFINES))
		complete(states, self, event);
}

/* --- blocking calls ------------------------------------------------------------------------- */

static void on_io_begin(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch_running(states, event);

	if (!self->over && !self->in_io)
		pp_thread_io_begin(&states->observer, self, event);
}

static void on_io(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch_running(states, event);

	if (!self->over)
		pp_thread_io_end(&states->observer, self, event);
}

/* --- the scheduler -------------------------------------------------------------------------- */

static struct pp_cpu *cpu_of(struct pp_thread_states *states, int cpu)
{
	if (cpu < 0)
		return NULL;
	if ((guint)cpu >= states->cpus->len)
		g_array_set_size(states->cpus, (guint)cpu + 1);
	return &g_array_index(states->cpus, struct pp_cpu, cpu);
}

/* In a ring, the switches before the first one are missing: its operations do not tell its mode. */
static void forget_mode(const struct pp_thread_states *states, struct pp_thread_state *self)
{
	if (!self->scheduled && pp_model_begins_late(states->model) &&
	    ran_before(states, self->thread))
		self->mode = PP_MODE_UNKNOWN;
}

static void switch_out(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch(states, event->sched_switch.prev, event->time_ns);
	int64_t prev_state = event->sched_switch.prev_state;
	bool counts = pp_selects_time(states->observer.context, event->time_ns);
	enum pp_mode next;

	if (!self)
		return;
	forget_mode(states, self);
	self->scheduled = true;
	decide(states, self, event->time_ns, PP_MODE_RUNNING);
	if (self->mode == PP_MODE_RUNNING || self->mode == PP_MODE_UNKNOWN) {
		pp_mode_close(&states->observer, self, event->time_ns, self->mode);
	} else {
		add_anomaly(states, PP_ANOMALY_OUT_WHILE_OFF, self);
		pp_mode_close(&states->observer, self, event->time_ns, PP_MODE_UNKNOWN);
	}
	self->cpu = PP_CPU_UNKNOWN;
	if (pp_state_preempted(prev_state)) {
		self->involuntary += counts;
		self->woken_early = false;
		self->waker = NULL;
		pp_mode_enter(&states->observer, self, PP_MODE_RUNNABLE);
		return;
	}
	self->voluntary += counts;
	if (pp_state_dead(prev_state)) {
		end_life(states, self, event->time_ns, PP_MODE_UNKNOWN);
		return;
	}
	next = pp_mode_off_cpu(self, prev_state);
	if (next == PP_MODE_BLOCKED_SYNC)
		pp_operations_innermost(&self->operations)->descheduled = true;
	pp_mode_enter(&states->observer, self, next);
}

/* The mode of an undecided thread that gets a CPU. */
static enum pp_mode mode_before_cpu(const struct pp_thread_states *states,
				    const struct pp_thread_state *self)
{
	/* Without wake-ups, blocked includes the time from the wake-up on. */
	return states->has_wakings || self->was_ready ? PP_MODE_RUNNABLE : PP_MODE_BLOCKED_OTHER;
}

static void switch_in(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch(states, event->sched_switch.next, event->time_ns);
	enum pp_mode was;

	if (!self)
		return;
	decide(states, self, event->time_ns, mode_before_cpu(states, self));
	forget_mode(states, self);
	was = self->mode;
	self->scheduled = true;
	if (was == PP_MODE_RUNNING) {
		add_anomaly(states, PP_ANOMALY_IN_WHILE_RUNNING, self);
		was = PP_MODE_UNKNOWN;
		self->mode = PP_MODE_UNKNOWN;
	} else if (was != PP_MODE_UNKNOWN && was != PP_MODE_RUNNABLE && states->has_wakings) {
		if (self->woken_early)
			was = PP_MODE_RUNNABLE;
		else
			add_anomaly(states, PP_ANOMALY_IN_WITHOUT_WAKING, self);
	}
	pp_mode_close(&states->observer, self, event->time_ns, was);
	self->woken_early = false;
	self->waker = NULL;
	self->cpu = event->cpu;
	pp_mode_enter(&states->observer, self, PP_MODE_RUNNING);
}

/* Counts a contradiction if another thread than expected leaves the CPU. */
static void check_current(struct pp_thread_states *states, const struct pp_cpu *cpu,
			  const struct pp_event *event)
{
	struct pp_thread_state *self = cpu->current;

	if (!self || self->over || self->mode != PP_MODE_RUNNING || self->cpu != event->cpu ||
	    event->sched_switch.prev == self->thread)
		return;
	add_anomaly(states, PP_ANOMALY_LEFT_CPU_UNSEEN, self);
	pp_mode_close(&states->observer, self, event->time_ns, PP_MODE_UNKNOWN);
	pp_mode_enter(&states->observer, self, PP_MODE_UNKNOWN);
}

static void on_switch(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_cpu *cpu = cpu_of(states, event->cpu);

	if (cpu)
		check_current(states, cpu, event);
	if (event->sched_switch.prev)
		switch_out(states, event);
	if (event->sched_switch.next)
		switch_in(states, event);
	if (cpu) {
		cpu->current =
		    event->sched_switch.next ? state_of(states, event->sched_switch.next) : NULL;
		cpu->last_ns = event->time_ns;
	}
}

static void on_waking(struct pp_thread_states *states, const struct pp_event *event)
{
	const struct pp_thread_listener *listener = states->observer.listener;
	struct pp_thread_state *self;

	if (listener->waking)
		listener->waking(listener->data, event);
	self = touch(states, event->thread, event->time_ns);
	if (!self)
		return;
	forget_mode(states, self);
	self->scheduled = true;
	decide(states, self, event->time_ns, PP_MODE_BLOCKED_OTHER);
	if (self->mode == PP_MODE_RUNNING) {
		self->woken_early = true;
		self->waker = event->waking.waker;
		return;
	}
	if (self->mode == PP_MODE_RUNNABLE)
		return;
	self->woken_early = false;
	pp_mode_change(&states->observer, self, event->time_ns, PP_MODE_RUNNABLE);
	self->waker = event->waking.waker;
}

/*
 * The state, at the begin of the recording, of a thread that already ran.  An event of the thread
 * that came before tells more.
 */
static void on_state(struct pp_thread_states *states, const struct pp_event *event)
{
	const struct pp_thread *thread = event->thread;
	struct pp_thread_state *self = state_of(states, thread);
	int64_t start_ns = thread->start_ns;

	if (self->begun || self->over || !ran_before(states, thread) || !states->has_kernel)
		return;
	if (start_ns == PP_TIME_UNKNOWN || start_ns > event->time_ns)
		start_ns = event->time_ns;
	if (event->state.bits == 0) {
		start_undecided(states, self, start_ns);
		self->was_ready = true;
		return;
	}
	start_life(states, self, start_ns, pp_mode_off_cpu(self, event->state.bits));
	self->scheduled = true;
}

static void on_syscall(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch(states, event->thread, event->time_ns);

	if (self)
		self->syscall = event->kind == PP_EVENT_SYSCALL_ENTRY ? event->syscall.name : NULL;
}

/* --- start and end by kernel events --------------------------------------------------------- */

static void on_fork(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = state_of(states, event->thread);

	if (self->begun)
		return;
	start_life(states, self, event->time_ns, PP_MODE_RUNNABLE);
	self->scheduled = true;
	self->waker = event->fork.parent;
}

static void on_end(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch(states, event->thread, event->time_ns);

	if (!self)
		return;
	self->scheduled = true;
	decide(states, self, event->time_ns, PP_MODE_RUNNING);
	end_life(states, self, event->time_ns, self->mode);
}

/* Restarts the state: earlier events were not part of this thread's lifetime. */
static void begin_image(struct pp_thread_states *states, const struct pp_thread *thread,
			const struct pp_event *event)
{
	struct pp_thread_state *self = state_of(states, thread);

	memset(self, 0, sizeof(*self));
	self->thread = thread;
	self->cpu = event->cpu;
	start_life(states, self, event->time_ns, mode_seen(states));
	self->scheduled = true;
}

/*
 * If the new image is a separate process in the model, the old thread ends here, and the first
 * thread of the new image begins if it is known.
 */
static void on_exec(struct pp_thread_states *states, const struct pp_event *event)
{
	const struct pp_thread *thread = event->thread, *next;
	struct pp_thread_state *self = state_of(states, thread);

	if (self->over)
		return;
	if (!self->begun || pp_exec_brings(thread, event->time_ns)) {
		begin_image(states, thread, event);
		return;
	}
	if (!pp_exec_has_image(states->model, thread, event->time_ns))
		return;
	end_life(states, self, event->time_ns, self->mode);
	next = pp_exec_successor(states->model, thread, event->time_ns);
	if (next)
		begin_image(states, next, event);
}

/* --- losses --------------------------------------------------------------------------------- */

/* True if the thread runs on a CPU without losses: its switch-out would have been recorded. */
static bool is_seen_running(const struct pp_thread_state *self, int lossy_cpu)
{
	return self->mode == PP_MODE_RUNNING && self->cpu != PP_CPU_UNKNOWN &&
	       lossy_cpu != PP_CPU_UNKNOWN && self->cpu != lossy_cpu;
}

/*
 * Any thread may have run on that CPU in the meantime: all states that depend on it are unknown
 * until the thread's next event.
 */
static void lose_switches(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_cpu *cpu = cpu_of(states, event->cpu);
	int64_t known_ns = cpu ? cpu->last_ns : INT64_MIN;

	for (guint i = 0; i < states->threads->len; i++) {
		struct pp_thread_state *self = states->threads->pdata[i];

		if (self)
			self->is_undecided = false;
		if (!self || !self->begun || self->over || self->mode == PP_MODE_UNKNOWN ||
		    is_seen_running(self, event->cpu))
			continue;
		self->syscall = NULL;
		add_anomaly(states, PP_ANOMALY_SWITCHES_LOST, self);
		pp_mode_close(&states->observer, self, known_ns, self->mode);
		pp_mode_enter(&states->observer, self, PP_MODE_UNKNOWN);
		self->cpu = PP_CPU_UNKNOWN;
	}
	if (cpu) {
		cpu->current = NULL;
		cpu->last_ns = event->time_ns;
	}
}

/* False also if an unrecorded exit may have preceded. */
static bool outlives(const struct pp_thread_state *self, int64_t time_ns)
{
	return self && self->begun && !self->over &&
	       (self->thread->end_ns == PP_TIME_UNKNOWN || self->thread->end_ns > time_ns);
}

/*
 * Recording of this CPU ends here.  From now on, only the states of threads on other CPUs are
 * known.
 */
static void end_of_cpu(struct pp_thread_states *states, const struct pp_event *event)
{
	states->unseen = true;
	for (guint i = 0; i < states->threads->len; i++) {
		struct pp_thread_state *self = states->threads->pdata[i];

		if (self)
			self->is_undecided = false;
		if (!outlives(self, event->time_ns) || self->mode == PP_MODE_UNKNOWN ||
		    is_seen_running(self, event->cpu))
			continue;
		self->syscall = NULL;
		add_anomaly(states, PP_ANOMALY_UNSEEN, self);
		pp_mode_change(&states->observer, self, event->time_ns, PP_MODE_UNKNOWN);
		self->cpu = PP_CPU_UNKNOWN;
	}
}

static void lose_operations(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch(states, event->thread, event->time_ns);

	if (!self)
		return;
	if (!states->has_kernel && self->operations.depth) {
		pp_mode_close(&states->observer, self, event->time_ns, PP_MODE_UNKNOWN);
		pp_mode_enter(&states->observer, self, PP_MODE_UNKNOWN);
	}
	for (unsigned i = 0; i < self->operations.depth; i++)
		add_anomaly(states, PP_ANOMALY_BEGIN_NO_COMPLETION, self);
	give_up(states, self, 0, PP_TIME_UNKNOWN);
	if (states->observer.listener->lost)
		states->observer.listener->lost(states->observer.listener->data, self->thread);
}

void pp_thread_states_event(struct pp_thread_states *states, const struct pp_event *event)
{
	static void (*const of_thread[PP_N_EVENT_KINDS])(struct pp_thread_states * states,
							 const struct pp_event *event) = {
	    [PP_EVENT_SYNC] = on_sync,
	    [PP_EVENT_WAKING] = on_waking,
	    [PP_EVENT_FORK] = on_fork,
	    [PP_EVENT_EXIT] = on_end,
	    [PP_EVENT_EXEC] = on_exec,
	    [PP_EVENT_LOST] = lose_operations,
	    [PP_EVENT_STATE] = on_state,
	    [PP_EVENT_SYSCALL_ENTRY] = on_syscall,
	    [PP_EVENT_SYSCALL_EXIT] = on_syscall,
	    [PP_EVENT_IO] = on_io,
	    [PP_EVENT_IO_BEGIN] = on_io_begin,
	};

	if (states->shared) {
		if (states->n_followed == states->shared->n_events)
			return;
		states->n_followed = states->shared->n_events;
	}
	if (event->kind == PP_EVENT_SWITCH)
		on_switch(states, event);
	else if (event->thread && of_thread[event->kind])
		of_thread[event->kind](states, event);
	else if (event->kind == PP_EVENT_UNSEEN && states->has_kernel)
		end_of_cpu(states, event);
	else if (event->kind == PP_EVENT_LOST && states->has_kernel)
		lose_switches(states, event);
}

static int64_t last_instant(const struct pp_thread_states *states,
			    const struct pp_thread_state *self, int64_t end_ns)
{
	const struct pp_thread *thread = self->thread;
	int64_t last_ns =
	    thread->end_ns != PP_TIME_UNKNOWN ? thread->end_ns : thread->process->end_ns;

	if (last_ns == PP_TIME_UNKNOWN || states->observer.context->is_cut)
		last_ns = end_ns;
	return MAX(last_ns, self->last_ns);
}

void pp_thread_states_finish(struct pp_thread_states *states, int64_t end_ns)
{
	if (states->finished)
		return;
	states->finished = states->shared != NULL;
	for (guint i = 0; i < states->model->threads->len; i++) {
		const struct pp_thread *thread = states->model->threads->pdata[i];
		struct pp_thread_state *self = state_of(states, thread);

		if (self->over)
			continue;
		if (!self->begun) {
			if (thread->start_ns == PP_TIME_UNKNOWN)
				continue;
			touch(states, thread, thread->start_ns);
		}
		/* Without a single scheduling event, the source does not record this thread. */
		end_life(states, self, last_instant(states, self, end_ns),
			 states->has_kernel && !self->scheduled ? PP_MODE_UNKNOWN : self->mode);
	}
}
