/* SPDX-License-Identifier: MIT */
/*
 * See thread_state.h; here is what each event means for its thread: whether its life has begun,
 * which mode ends and which begins.
 *
 * A thread that was first seen by the runtime was running at that instant; one that was forked is
 * runnable until it is switched in.  A wake-up may overtake the switch that puts its thread to
 * sleep (the waker runs on another CPU while the sleeper is still inside the scheduler): it is
 * remembered, and if no other comes before the thread runs again, it was runnable all along.
 */
#include "analysis/thread_life.h"

#include <string.h>

#include "analysis/select.h"
#include "analysis/reason.h"

/* TASK_REPORT: the bits of a task that cannot go on; above it are marks such as "preempted". */
#define STATE_CANNOT_GO_ON 0xff
#define STATE_DEAD	   0x30 /* EXIT_DEAD | EXIT_ZOMBIE */

static const struct pp_thread_listener no_listener;

struct pp_thread_states *pp_thread_states_new(const struct pp_pass_context *context,
					      const struct pp_thread_listener *listener,
					      struct pp_anomalies *anomalies)
{
	struct pp_thread_states *states = g_new0(struct pp_thread_states, 1);

	states->context = context;
	states->model = context->model;
	states->listener = listener ? listener : &no_listener;
	states->anomalies = anomalies;
	states->has_kernel = context->has_kernel;
	states->has_wakings = context->has_kernel && context->has_wakings;
	states->threads = g_ptr_array_new_with_free_func(g_free);
	states->by_tid = g_hash_table_new(NULL, NULL);
	states->cpus = g_array_new(FALSE, TRUE, sizeof(struct pp_cpu));
	return states;
}

void pp_thread_states_free(struct pp_thread_states *states)
{
	if (!states)
		return;
	g_ptr_array_unref(states->threads);
	g_hash_table_unref(states->by_tid);
	g_array_unref(states->cpus);
	g_free(states);
}

bool pp_state_preempted(int64_t prev_state)
{
	return !(prev_state & STATE_CANNOT_GO_ON);
}

bool pp_state_dead(int64_t prev_state)
{
	return prev_state & STATE_DEAD;
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

bool pp_thread_blocking_known(const struct pp_thread_states *states, const struct pp_thread *thread)
{
	const struct pp_thread_state *self = pp_thread_state(states, thread);

	return !states->has_kernel || (self && self->scheduled);
}

const struct pp_operation *pp_thread_operation(const struct pp_thread_states *states,
					       const struct pp_thread *thread)
{
	const struct pp_thread_state *self = pp_thread_state(states, thread);

	return self ? pp_life_innermost(self) : NULL;
}

static struct pp_thread_state *state_of(struct pp_thread_states *states,
					const struct pp_thread *thread)
{
	struct pp_thread_state *self;

	if (thread->serial >= states->threads->len)
		g_ptr_array_set_size(states->threads, (gint)thread->serial + 1);
	self = states->threads->pdata[thread->serial];
	if (!self) {
		self = g_new0(struct pp_thread_state, 1);
		self->thread = thread;
		self->cpu = PP_CPU_UNKNOWN;
		states->threads->pdata[thread->serial] = self;
	}
	return self;
}

/* Of a thread that does something: it runs, but nobody may see it leave its CPU. */
static enum pp_mode mode_seen(const struct pp_thread_states *states)
{
	return states->has_kernel && !states->unseen ? PP_MODE_RUNNING : PP_MODE_UNKNOWN;
}

/*
 * The state of a thread that an event tells of, begun at the instant the runtime first saw it: it
 * was running then.  NULL where the event has nothing to say: after the end, or before that
 * instant (only a fork or exec begins a life earlier).
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
		pp_life_start(states, self,
			      thread->start_ns == PP_TIME_UNKNOWN ? now_ns : thread->start_ns,
			      mode_seen(states));
	}
	if (now_ns > self->last_ns)
		self->last_ns = now_ns;
	return self;
}

static void on_sync(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch(states, event->thread, event->time_ns);

	if (!self) {
		self = state_of(states, event->thread);
		if (self->over)
			pp_life_anomaly(states, PP_ANOMALY_AFTER_END, self);
		else
			pp_life_start(states, self, event->time_ns, mode_seen(states));
	} else if (states->has_kernel && self->mode == PP_MODE_UNKNOWN) {
		pp_life_change(states, self, event->time_ns, mode_seen(states));
	} else if (states->has_kernel && self->mode != PP_MODE_RUNNING) {
		/* It does run; when it was switched in nobody saw. */
		pp_life_anomaly(states, PP_ANOMALY_SYNC_WHILE_OFF, self);
		pp_life_close(states, self, event->time_ns, PP_MODE_UNKNOWN);
		pp_life_enter(states, self, mode_seen(states));
	}
	if (pp_sync_has(event->sync.op, PP_SYNC_BEGIN))
		pp_life_begin(states, self, event);
	else if (!pp_sync_has(event->sync.op, PP_SYNC_DEFINES))
		pp_life_complete(states, self, event);
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

static enum pp_mode mode_asleep(const struct pp_thread_state *self, int64_t prev_state)
{
	if (prev_state & PP_STATE_UNINTERRUPTIBLE)
		return PP_MODE_BLOCKED_IO;
	if (self->depth)
		return PP_MODE_BLOCKED_SYNC;
	return self->syscall && pp_reason_is_io(pp_reason_of_syscall(self->syscall))
		   ? PP_MODE_BLOCKED_IO
		   : PP_MODE_BLOCKED_OTHER;
}

static void switch_out(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch(states, event->sched_switch.prev, event->time_ns);
	int64_t prev_state = event->sched_switch.prev_state;
	bool counts = pp_selects_time(states->context, event->time_ns);
	enum pp_mode next;

	if (!self)
		return;
	self->scheduled = true;
	if (self->mode == PP_MODE_RUNNING || self->mode == PP_MODE_UNKNOWN) {
		pp_life_close(states, self, event->time_ns, self->mode);
	} else {
		pp_life_anomaly(states, PP_ANOMALY_OUT_WHILE_OFF, self);
		pp_life_close(states, self, event->time_ns, PP_MODE_UNKNOWN);
	}
	self->cpu = PP_CPU_UNKNOWN;
	if (pp_state_preempted(prev_state)) {
		self->involuntary += counts;
		self->woken_early = false;
		self->waker = NULL;
		pp_life_enter(states, self, PP_MODE_RUNNABLE);
		return;
	}
	self->voluntary += counts;
	if (pp_state_dead(prev_state)) {
		pp_life_end(states, self, event->time_ns, PP_MODE_UNKNOWN);
		return;
	}
	next = mode_asleep(self, prev_state);
	if (next == PP_MODE_BLOCKED_SYNC)
		self->operations[self->depth - 1].descheduled = true;
	pp_life_enter(states, self, next);
}

static void switch_in(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch(states, event->sched_switch.next, event->time_ns);
	enum pp_mode was;

	if (!self)
		return;
	was = self->mode;
	self->scheduled = true;
	if (was == PP_MODE_RUNNING) {
		pp_life_anomaly(states, PP_ANOMALY_IN_WHILE_RUNNING, self);
		was = PP_MODE_UNKNOWN;
		self->mode = PP_MODE_UNKNOWN;
	} else if (was != PP_MODE_UNKNOWN && was != PP_MODE_RUNNABLE && states->has_wakings) {
		if (self->woken_early)
			was = PP_MODE_RUNNABLE;
		else
			pp_life_anomaly(states, PP_ANOMALY_IN_WITHOUT_WAKING, self);
	}
	pp_life_close(states, self, event->time_ns, was);
	self->woken_early = false;
	self->waker = NULL;
	self->cpu = event->cpu;
	pp_life_enter(states, self, PP_MODE_RUNNING);
}

/* Whom we took to be on that CPU is not the one that leaves it. */
static void check_current(struct pp_thread_states *states, const struct pp_cpu *cpu,
			  const struct pp_event *event)
{
	struct pp_thread_state *self = cpu->current;

	if (!self || self->over || self->mode != PP_MODE_RUNNING || self->cpu != event->cpu ||
	    event->sched_switch.prev == self->thread)
		return;
	pp_life_anomaly(states, PP_ANOMALY_LEFT_CPU_UNSEEN, self);
	pp_life_close(states, self, event->time_ns, PP_MODE_UNKNOWN);
	pp_life_enter(states, self, PP_MODE_UNKNOWN);
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
	struct pp_thread_state *self = touch(states, event->thread, event->time_ns);

	if (!self)
		return;
	self->scheduled = true;
	if (self->mode == PP_MODE_RUNNING) {
		self->woken_early = true;
		self->waker = event->waking.waker;
		return;
	}
	if (self->mode == PP_MODE_RUNNABLE)
		return;
	self->woken_early = false;
	pp_life_change(states, self, event->time_ns, PP_MODE_RUNNABLE);
	self->waker = event->waking.waker;
}

static void on_syscall(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch(states, event->thread, event->time_ns);

	if (self)
		self->syscall = event->kind == PP_EVENT_SYSCALL_ENTRY ? event->syscall.name : NULL;
}

/* --- births and deaths ---------------------------------------------------------------------- */

/* Is this thread's image the one that an exec at now_ns brings? */
static bool is_new_image(const struct pp_thread *thread, int64_t now_ns)
{
	return thread->start_ns > now_ns || thread->process->start_ns > now_ns;
}

/* Does the exec'd image stand in the model as a process of its own? */
static bool has_later_image(const struct pp_model *model, const struct pp_thread *thread,
			    int64_t now_ns)
{
	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		if (process != thread->process && process->pid == thread->process->pid &&
		    process->start_ns >= now_ns)
			return true;
	}
	return false;
}

static void on_fork(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = state_of(states, event->thread);

	if (self->begun)
		return;
	pp_life_start(states, self, event->time_ns, PP_MODE_RUNNABLE);
	self->scheduled = true;
	self->waker = event->fork.parent;
}

static void on_end(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch(states, event->thread, event->time_ns);

	if (!self)
		return;
	self->scheduled = true;
	pp_life_end(states, self, event->time_ns, self->mode);
}

const struct pp_thread *pp_exec_successor(const struct pp_model *model,
					  const struct pp_thread *thread, int64_t exec_ns)
{
	const struct pp_thread *next = pp_model_thread_at(model, thread->tid, exec_ns);

	return next && next->process != thread->process &&
		       next->process->pid == thread->process->pid && next->start_ns == exec_ns
		   ? next
		   : NULL;
}

/* What went before was not its life. */
static void begin_image(struct pp_thread_states *states, const struct pp_thread *thread,
			const struct pp_event *event)
{
	struct pp_thread_state *self = state_of(states, thread);

	memset(self, 0, sizeof(*self));
	self->thread = thread;
	self->cpu = event->cpu;
	pp_life_start(states, self, event->time_ns, mode_seen(states));
	self->scheduled = true;
}

/*
 * Where the new image is a process of its own in the model, the old thread ends here, and the first
 * of the new image begins, if it is known to.
 */
static void on_exec(struct pp_thread_states *states, const struct pp_event *event)
{
	const struct pp_thread *thread = event->thread, *next;
	struct pp_thread_state *self = state_of(states, thread);

	if (self->over)
		return;
	if (!self->begun || is_new_image(thread, event->time_ns)) {
		begin_image(states, thread, event);
		return;
	}
	if (!has_later_image(states->model, thread, event->time_ns))
		return;
	pp_life_end(states, self, event->time_ns, self->mode);
	next = pp_exec_successor(states->model, thread, event->time_ns);
	if (next)
		begin_image(states, next, event);
}

/* --- losses --------------------------------------------------------------------------------- */

/* Its own CPU's records are complete: were it gone, they would say so. */
static bool is_seen_running(const struct pp_thread_state *self, int lossy_cpu)
{
	return self->mode == PP_MODE_RUNNING && self->cpu != PP_CPU_UNKNOWN &&
	       lossy_cpu != PP_CPU_UNKNOWN && self->cpu != lossy_cpu;
}

/* Whoever may have run on that CPU meanwhile: nothing is sure until its next event. */
static void lose_switches(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_cpu *cpu = cpu_of(states, event->cpu);
	int64_t known_ns = cpu ? cpu->last_ns : INT64_MIN;

	for (guint i = 0; i < states->threads->len; i++) {
		struct pp_thread_state *self = states->threads->pdata[i];

		if (!self || !self->begun || self->over || self->mode == PP_MODE_UNKNOWN ||
		    is_seen_running(self, event->cpu))
			continue;
		self->syscall = NULL;
		pp_life_anomaly(states, PP_ANOMALY_SWITCHES_LOST, self);
		pp_life_close(states, self, known_ns, self->mode);
		pp_life_enter(states, self, PP_MODE_UNKNOWN);
		self->cpu = PP_CPU_UNKNOWN;
	}
	if (cpu) {
		cpu->current = NULL;
		cpu->last_ns = event->time_ns;
	}
}

/* An exit that nobody saw may have been before. */
static bool outlives(const struct pp_thread_state *self, int64_t time_ns)
{
	return self && self->begun && !self->over &&
	       (self->thread->end_ns == PP_TIME_UNKNOWN || self->thread->end_ns > time_ns);
}

/* Until then it is known what that CPU did, and with that all but who runs on another. */
static void end_of_cpu(struct pp_thread_states *states, const struct pp_event *event)
{
	states->unseen = true;
	for (guint i = 0; i < states->threads->len; i++) {
		struct pp_thread_state *self = states->threads->pdata[i];

		if (!outlives(self, event->time_ns) || self->mode == PP_MODE_UNKNOWN ||
		    is_seen_running(self, event->cpu))
			continue;
		self->syscall = NULL;
		pp_life_anomaly(states, PP_ANOMALY_UNSEEN, self);
		pp_life_change(states, self, event->time_ns, PP_MODE_UNKNOWN);
		self->cpu = PP_CPU_UNKNOWN;
	}
}

static void lose_operations(struct pp_thread_states *states, const struct pp_event *event)
{
	struct pp_thread_state *self = touch(states, event->thread, event->time_ns);

	if (!self)
		return;
	if (!states->has_kernel && self->depth) {
		pp_life_close(states, self, event->time_ns, PP_MODE_UNKNOWN);
		pp_life_enter(states, self, PP_MODE_UNKNOWN);
	}
	for (unsigned i = 0; i < self->depth; i++)
		pp_life_anomaly(states, PP_ANOMALY_BEGIN_NO_COMPLETION, self);
	pp_life_give_up(states, self, 0, PP_TIME_UNKNOWN);
	if (states->listener->lost)
		states->listener->lost(states->listener->data, self->thread);
}

void pp_thread_states_event(struct pp_thread_states *states, const struct pp_event *event)
{
	switch (event->kind) {
	case PP_EVENT_SYNC:
		on_sync(states, event);
		break;
	case PP_EVENT_SWITCH:
		on_switch(states, event);
		break;
	case PP_EVENT_WAKING:
		if (event->thread)
			on_waking(states, event);
		break;
	case PP_EVENT_FORK:
		if (event->thread)
			on_fork(states, event);
		break;
	case PP_EVENT_EXIT:
		if (event->thread)
			on_end(states, event);
		break;
	case PP_EVENT_EXEC:
		if (event->thread)
			on_exec(states, event);
		break;
	case PP_EVENT_UNSEEN:
		if (states->has_kernel)
			end_of_cpu(states, event);
		break;
	case PP_EVENT_LOST:
		if (event->thread)
			lose_operations(states, event);
		else if (states->has_kernel)
			lose_switches(states, event);
		break;
	case PP_EVENT_SYSCALL_ENTRY:
	case PP_EVENT_SYSCALL_EXIT:
		on_syscall(states, event);
		break;
	default:
		break;
	}
}

static int64_t last_instant(const struct pp_thread_state *self, int64_t end_ns)
{
	const struct pp_thread *thread = self->thread;
	int64_t last_ns = end_ns;

	if (thread->end_ns != PP_TIME_UNKNOWN)
		last_ns = thread->end_ns;
	else if (thread->process->end_ns != PP_TIME_UNKNOWN)
		last_ns = thread->process->end_ns;
	return MAX(last_ns, self->last_ns);
}

void pp_thread_states_finish(struct pp_thread_states *states, int64_t end_ns)
{
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
		/* Not one word from the scheduler: it does not tell of this thread. */
		pp_life_end(states, self, last_instant(self, end_ns),
			    states->has_kernel && !self->scheduled ? PP_MODE_UNKNOWN : self->mode);
	}
}
