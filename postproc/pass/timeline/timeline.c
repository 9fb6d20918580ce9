/* SPDX-License-Identifier: MIT */
/*
 * Holds back the current line until the next event shows whether it belongs to it, and merges
 * calls, operations and kernel events of the thread.
 */
#include <inttypes.h>

#include "analysis/select.h"
#include "pass/timeline/line.h"
#include "pass/timeline/state.h"

static bool is_shown(const struct pp_timeline *self, const struct pp_thread *thread)
{
	return thread && thread->tid == self->options.tid;
}

/* --- lines ---------------------------------------------------------------------------------- */

static void hand_out(struct pp_timeline *self, struct pp_timeline_line *line)
{
	line->thread = self->track.thread;
	if (pp_selects_time(self->context, line->time_ns))
		self->options.take(self->options.data, line);
}

static struct pp_timeline_line line_of(const struct pp_timeline *self, enum pp_timeline_kind kind,
				       const GString *text)
{
	return (struct pp_timeline_line){
	    .kind = kind,
	    .time_ns = self->now_ns,
	    .cpu = self->track.cpu,
	    .depth = pp_replay_depth(self->replay),
	    .text = text->str,
	    .other_tid = -1,
	    .duration_ns = PP_DURATION_UNKNOWN,
	    .blocked_ns = PP_DURATION_UNKNOWN,
	    .runnable_ns = PP_DURATION_UNKNOWN,
	};
}

static void release_syscall(struct pp_timeline *self)
{
	struct track *track = &self->track;
	g_autoptr(GString) text = g_steal_pointer(&track->held);
	struct pp_timeline_line line;

	if (!text)
		return;
	line = line_of(self, PP_TIMELINE_SYSCALL, text);
	line.time_ns = track->syscall_ns;
	line.depth = track->held_depth;
	hand_out(self, &line);
}

/* Emits the line that was held back, before any later line. */
static void release(struct pp_timeline *self)
{
	pp_replay_release(self->replay);
	release_syscall(self);
}

static struct pp_timeline_line next_line(struct pp_timeline *self, enum pp_timeline_kind kind,
					 const GString *text)
{
	release(self);
	return line_of(self, kind, text);
}

static void hand_out_text(struct pp_timeline *self, enum pp_timeline_kind kind, const GString *text)
{
	struct pp_timeline_line line = next_line(self, kind, text);

	hand_out(self, &line);
}

static void take_call(void *data, const struct pp_replay_line *call)
{
	struct pp_timeline *self = data;
	bool is_return = call->kind == PP_REPLAY_RETURN;
	g_autoptr(GString) text = g_string_new(is_return ? "end of " : "");
	struct pp_timeline_line line;

	g_string_append(text, call->name);
	line = line_of(self, is_return ? PP_TIMELINE_RETURN : PP_TIMELINE_CALL, text);
	line.time_ns = call->time_ns;
	line.depth = call->depth;
	line.duration_ns = call->duration_ns;
	hand_out(self, &line);
}

/* --- synchronization ------------------------------------------------------------------------ */

static void add_call(struct pp_timeline *self, GString *text, struct pp_object *object,
		     const struct pp_operation *operation)
{
	const char *function = pp_sync_function(operation->op);

	g_string_append_printf(text, "%s(%s)", function ? function : pp_sync_name(operation->op),
			       pp_timeline_name(self, object));
}

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	struct pp_timeline *self = data;
	g_autoptr(GString) text = g_string_new(NULL);
	struct pp_timeline_line line;
	int64_t holder;

	if (!is_shown(self, operation->thread))
		return;
	self->waits_on = object;
	add_call(self, text, object, operation);
	g_string_append(text, " has to wait");
	holder = pp_timeline_add_holder(self, text, object, operation);
	pp_timeline_add_site(self, text, ", at ", operation->site);
	line = next_line(self, PP_TIMELINE_SYNC, text);
	line.object = pp_timeline_name(self, object);
	line.other_tid = holder;
	hand_out(self, &line);
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_timeline *self = data;
	g_autoptr(GString) text = g_string_new(NULL);
	struct pp_timeline_line line;

	(void)acquired;
	/*
	 * No lines for the mutex of a condition wait, and for operations without a recorded return.
	 */
	if (!is_shown(self, operation->thread) || object->address != operation->object ||
	    !operation->finished)
		return;
	add_call(self, text, object, operation);
	if (operation->result)
		pp_timeline_add_result(text, operation->result == ST_RESULT_SERIAL_THREAD
						 ? operation->result
						 : -(int64_t)operation->result);
	if (!operation->waited)
		pp_timeline_add_site(self, text, " at ", operation->site);
	line = next_line(self, PP_TIMELINE_SYNC, text);
	line.object = pp_timeline_name(self, object);
	if (operation->waited)
		line.duration_ns = operation->end_ns - operation->begin_ns;
	hand_out(self, &line);
}

/* --- leaving a CPU -------------------------------------------------------------------------- */

static void leave(struct pp_timeline *self, const struct pp_event *event)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct track *track = &self->track;
	struct pp_timeline_line line;
	int64_t tid = -1;

	track->cpu = event->cpu;
	track->reason = pp_timeline_add_reason(self, text, event, &tid);
	line = next_line(self, PP_TIMELINE_OFF, text);
	line.reason = track->reason;
	line.other_tid = tid;
	if (self->waits_on && pp_thread_operation(self->states, track->thread) &&
	    track->reason >= PP_REASON_MUTEX && track->reason <= PP_REASON_JOIN)
		line.object = pp_timeline_name(self, self->waits_on);
	hand_out(self, &line);
	track->off_ns = self->now_ns;
	track->on_ns = PP_TIME_UNKNOWN;
	track->cpu = PP_CPU_UNKNOWN;
}

/* --- getting a CPU -------------------------------------------------------------------------- */

static bool could_go_on(enum pp_reason reason)
{
	return reason == PP_REASON_PREEMPTED || reason == PP_REASON_QUANTUM ||
	       reason == PP_REASON_YIELD;
}

/* Divides the time off the CPU into blocked and runnable. */
static void split(const struct pp_timeline *self, struct pp_timeline_line *line)
{
	const struct track *track = &self->track;

	if (track->off_ns == PP_TIME_UNKNOWN) { /* new thread */
		if (track->woken_ns != PP_TIME_UNKNOWN)
			line->runnable_ns = self->now_ns - track->woken_ns;
		return;
	}
	line->duration_ns = self->now_ns - track->off_ns;
	if (could_go_on(track->reason) || track->woken_early)
		line->runnable_ns = line->duration_ns;
	else if (track->woken_ns != PP_TIME_UNKNOWN && track->woken_ns >= track->off_ns)
		line->runnable_ns = self->now_ns - track->woken_ns;
	if (line->runnable_ns != PP_DURATION_UNKNOWN)
		line->blocked_ns = line->duration_ns - line->runnable_ns;
}

static void enter(struct pp_timeline *self, const struct pp_event *event)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct track *track = &self->track;
	struct pp_timeline_line line;

	track->cpu = event->cpu;
	line = next_line(self, PP_TIMELINE_ON, text);
	line.reason = track->off_ns == PP_TIME_UNKNOWN ? PP_REASON_NONE : track->reason;
	split(self, &line);
	pp_timeline_add_return(text, &line);
	line.text = text->str;
	hand_out(self, &line);
	track->on_ns = self->now_ns;
	track->off_ns = track->woken_ns = PP_TIME_UNKNOWN;
	track->woken_early = false;
}

static void woken(struct pp_timeline *self, const struct pp_event *event)
{
	g_autoptr(GString) text = g_string_new("by ");
	struct track *track = &self->track;
	struct pp_timeline_line line;
	bool by_timer = event->waking.by_interrupt && event->cpu >= 0 &&
			(guint)event->cpu < self->timers->len &&
			g_array_index(self->timers, bool, event->cpu);

	if (event->waking.by_interrupt)
		g_string_append(text, by_timer ? "a timer" : "an interrupt");
	else
		pp_timeline_add_thread(text, event->waking.waker, event->waking.waker_tid, NULL);
	if (track->off_ns == PP_TIME_UNKNOWN) {
		track->woken_early = true;
		g_string_append(text, ", before it left its CPU");
	} else if (track->woken_ns == PP_TIME_UNKNOWN) {
		track->woken_ns = self->now_ns;
	}
	line = next_line(self, PP_TIMELINE_WOKEN, text);
	if (!event->waking.by_interrupt)
		line.other_tid = event->waking.waker_tid;
	if (track->off_ns != PP_TIME_UNKNOWN)
		line.blocked_ns = self->now_ns - track->off_ns;
	hand_out(self, &line);
}

static void wakes(struct pp_timeline *self, enum pp_timeline_kind kind,
		  const struct pp_thread *thread)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct pp_timeline_line line;

	pp_timeline_add_thread(text, thread, -1, NULL);
	line = next_line(self, kind, text);
	line.other_tid = thread->tid;
	hand_out(self, &line);
}

/* --- system calls and other kernel events --------------------------------------------------- */

static void enter_syscall(struct pp_timeline *self, const struct pp_event *event)
{
	struct track *track = &self->track;

	release(self);
	track->syscall = event->syscall.name;
	track->syscall_ns = event->time_ns;
	track->syscall_fd = pp_timeline_descriptor(event);
	if (pp_own_calls_enter(&track->own, self->context->namer, event))
		return;
	track->held = g_string_new(NULL);
	track->held_depth = pp_replay_depth(self->replay);
	pp_timeline_add_syscall(track->held, event);
}

static void leave_syscall(struct pp_timeline *self, const struct pp_event *event)
{
	struct track *track = &self->track;
	g_autoptr(GString) text = g_steal_pointer(&track->held);
	bool is_whole = text != NULL;
	struct pp_timeline_line line;

	if (pp_own_calls_leave(&track->own)) {
		track->syscall = NULL;
		return;
	}
	if (!text) {
		text = g_string_new("end of ");
		g_string_append(text, track->syscall ? track->syscall : event->syscall.name);
	}
	if (event->syscall.n_values)
		pp_timeline_add_result(text, event->syscall.values[event->syscall.n_values - 1]);
	pp_replay_release(self->replay);
	line = line_of(self, PP_TIMELINE_SYSCALL, text);
	if (track->syscall)
		line.duration_ns = self->now_ns - track->syscall_ns;
	if (is_whole)
		line.time_ns = track->syscall_ns;
	hand_out(self, &line);
	track->syscall = NULL;
}

/* An event of a blocking call: its begin has the call site, its end the duration. */
static void on_io(struct pp_timeline *self, const struct pp_event *event)
{
	bool is_begin = event->kind == PP_EVENT_IO_BEGIN;
	g_autofree char *object = pp_io_object_text(event->io.call, event->io.fd, event->io.object);
	g_autoptr(GString) text = g_string_new(is_begin ? "enters " : NULL);
	struct pp_timeline_line line;

	g_string_append_printf(text, "%s(%s)", pp_io_name(event->io.call), object ? object : "");
	if (!is_begin && event->io.error)
		pp_timeline_add_result(text, -(int64_t)event->io.error);
	pp_timeline_add_site(self, text, is_begin ? ", at " : " at ", event->io.site);
	line = next_line(self, PP_TIMELINE_IO, text);
	if (!is_begin)
		line.duration_ns = (int64_t)event->io.duration_ns;
	hand_out(self, &line);
}

static void on_fault(struct pp_timeline *self, const struct pp_event *event)
{
	g_autoptr(GString) text = g_string_new(NULL);

	g_string_append_printf(text, "page fault at 0x%" PRIx64, event->fault.address);
	if ((int64_t)event->fault.ip > 0)
		pp_timeline_add_site(self, text, ", in ", event->fault.ip + 1);
	else
		g_string_append(text, ", in the kernel");
	hand_out_text(self, PP_TIMELINE_FAULT, text);
	self->track.faulted = true;
	self->track.fault_address = event->fault.address;
}

static void on_signal(struct pp_timeline *self, const struct pp_event *event)
{
	g_autoptr(GString) text = g_string_new(NULL);

	pp_timeline_add_signal(text, event->signal.number);
	g_string_append(text, event->signal.delivered ? " delivered" : " raised by ");
	if (!event->signal.delivered)
		pp_timeline_add_thread(text, event->signal.sender, event->signal.sender_tid, NULL);
	hand_out_text(self, PP_TIMELINE_SIGNAL, text);
}

static void on_block(struct pp_timeline *self, const struct pp_event *event)
{
	g_autoptr(GString) text = g_string_new(event->block.is_write ? "write" : "read");

	if (event->block.bytes)
		g_string_append_printf(text, " of %" PRIu64 " bytes", event->block.bytes);
	g_string_append_printf(text, " at sector %" PRIu64, event->block.sector);
	hand_out_text(self, PP_TIMELINE_BLOCK, text);
}

static void on_lost(struct pp_timeline *self, const struct pp_event *event)
{
	g_autoptr(GString) text = g_string_new(NULL);

	g_string_append_printf(text, "%" PRIu64 " records of %s", event->lost.count,
			       event->thread ? "this thread" : "the kernel's");
	if (!event->thread && event->cpu >= 0)
		g_string_append_printf(text, " on CPU %d", event->cpu);
	hand_out_text(self, PP_TIMELINE_LOST, text);
	if (!event->thread) {
		self->track.syscall = NULL;
		pp_own_calls_forget(&self->track.own);
		self->track.on_ns = self->track.off_ns = self->track.woken_ns = PP_TIME_UNKNOWN;
	}
}

static void on_life(struct pp_timeline *self, const struct pp_event *event)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (event->kind == PP_EVENT_FORK) {
		self->track.woken_ns = self->now_ns;
		g_string_append(text, "made by ");
		pp_timeline_add_thread(text, event->fork.parent, event->fork.parent_tid, NULL);
		hand_out_text(self, PP_TIMELINE_START, text);
		return;
	}
	g_string_append(text, event->kind == PP_EVENT_EXEC ? "another program" : "ends");
	hand_out_text(self, event->kind == PP_EVENT_EXEC ? PP_TIMELINE_EXEC : PP_TIMELINE_END,
		      text);
	self->track.syscall = NULL;
	pp_own_calls_forget(&self->track.own);
}

/* --- events --------------------------------------------------------------------------------- */

/* Another thread with the same tid gets a new state. */
static void begin_track(struct pp_timeline *self, const struct pp_thread *thread)
{
	if (self->track.thread == thread)
		return;
	if (self->track.thread)
		release(self);
	self->n_own_calls += self->track.own.n;
	self->track = (struct track){
	    .thread = thread,
	    .cpu = PP_CPU_UNKNOWN,
	    .on_ns = PP_TIME_UNKNOWN,
	    .off_ns = PP_TIME_UNKNOWN,
	    .woken_ns = PP_TIME_UNKNOWN,
	    .syscall_fd = -1,
	};
	self->waits_on = NULL;
}

static void note_waking(struct pp_timeline *self, const struct pp_event *event)
{
	const int64_t never = PP_TIME_UNKNOWN;

	while (event->thread->serial >= self->woken->len)
		g_array_append_val(self->woken, never);
	g_array_index(self->woken, int64_t, event->thread->serial) = event->time_ns;
}

static void note_timer(struct pp_timeline *self, const struct pp_event *event)
{
	if (event->cpu < 0 || event->kind == PP_EVENT_SYNC || event->kind == PP_EVENT_WAKING)
		return;
	if ((guint)event->cpu >= self->timers->len)
		g_array_set_size(self->timers, (guint)event->cpu + 1);
	g_array_index(self->timers, bool, event->cpu) = event->kind == PP_EVENT_TIMER;
}

/* True if the thread itself caused the event, on the event's CPU. */
static bool is_on_cpu(const struct pp_event *event)
{
	return event->kind == PP_EVENT_SYSCALL_ENTRY || event->kind == PP_EVENT_SYSCALL_EXIT ||
	       event->kind == PP_EVENT_FAULT || event->kind == PP_EVENT_BLOCK ||
	       event->kind == PP_EVENT_EXEC || event->kind == PP_EVENT_EXIT;
}

/* Handles an event of the thread, except calls and synch-events. */
static void on_shown(struct pp_timeline *self, const struct pp_event *event)
{
	if (is_on_cpu(event))
		self->track.cpu = event->cpu;
	switch (event->kind) {
	case PP_EVENT_WAKING:
		woken(self, event);
		break;
	case PP_EVENT_FORK:
	case PP_EVENT_EXEC:
	case PP_EVENT_EXIT:
		on_life(self, event);
		break;
	case PP_EVENT_SYSCALL_ENTRY:
		enter_syscall(self, event);
		break;
	case PP_EVENT_SYSCALL_EXIT:
		leave_syscall(self, event);
		break;
	case PP_EVENT_FAULT:
		on_fault(self, event);
		return; /* keeps `faulted` */
	case PP_EVENT_SIGNAL:
		on_signal(self, event);
		break;
	case PP_EVENT_BLOCK:
		on_block(self, event);
		return; /* keeps `faulted`: the fault may have caused it */
	case PP_EVENT_LOST:
		on_lost(self, event);
		break;
	case PP_EVENT_IO:
	case PP_EVENT_IO_BEGIN:
		on_io(self, event);
		break;
	default:
		break;
	}
	self->track.faulted = false;
}

static void on_switch(struct pp_timeline *self, const struct pp_event *event)
{
	if (is_shown(self, event->sched_switch.prev)) {
		begin_track(self, event->sched_switch.prev);
		leave(self, event);
	}
	if (is_shown(self, event->sched_switch.next)) {
		begin_track(self, event->sched_switch.next);
		enter(self, event);
		self->track.faulted = false;
	}
}

/* Handles an operation of the thread on another thread. */
static void on_others(struct pp_timeline *self, const struct pp_event *event)
{
	bool wakes_it = event->kind == PP_EVENT_WAKING && is_shown(self, event->waking.waker);
	bool forks_it = event->kind == PP_EVENT_FORK && is_shown(self, event->fork.parent);

	if (!event->thread || is_shown(self, event->thread) || !(wakes_it || forks_it))
		return;
	begin_track(self, wakes_it ? event->waking.waker : event->fork.parent);
	wakes(self, wakes_it ? PP_TIMELINE_WAKES : PP_TIMELINE_FORK, event->thread);
}

void pp_timeline_event(struct pp_timeline *self, const struct pp_event *event)
{
	self->now_ns = event->time_ns;
	self->saw_syscalls |= event->kind == PP_EVENT_SYSCALL_ENTRY;
	note_timer(self, event);
	if (event->kind == PP_EVENT_SWITCH)
		on_switch(self, event);
	else if (event->kind == PP_EVENT_LOST && !event->thread && self->track.thread)
		on_lost(self, event);
	else
		on_others(self, event);
	if (is_shown(self, event->thread)) {
		begin_track(self, event->thread);
		if (event->kind == PP_EVENT_CALL || event->kind == PP_EVENT_RETURN) {
			release_syscall(self);
			pp_replay_event(self->replay, event);
			self->track.faulted = false;
		} else {
			on_shown(self, event);
		}
	}
	if (event->kind == PP_EVENT_WAKING && event->thread)
		note_waking(self, event);
	if (PP_THREAD_STATE_KINDS & PP_EVENT_MASK(event->kind))
		pp_thread_states_event(self->states, event);
}

void pp_timeline_finish(struct pp_timeline *self, int64_t end_ns)
{
	self->now_ns = end_ns;
	if (self->track.thread)
		release(self);
}

bool pp_timeline_saw_syscalls(const struct pp_timeline *self)
{
	return self->saw_syscalls;
}

uint64_t pp_timeline_n_own_calls(const struct pp_timeline *self)
{
	return self->n_own_calls + self->track.own.n;
}

struct pp_timeline *pp_timeline_new(const struct pp_pass_context *context,
				    const struct pp_timeline_options *options)
{
	struct pp_timeline *self = g_new0(struct pp_timeline, 1);

	self->context = context;
	self->options = *options;
	self->object_listener =
	    (struct pp_object_listener){.data = self, .waits = on_waits, .operation = on_operation};
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	self->listener = pp_objects_feed(&self->objects);
	self->states = pp_thread_states_new(context, &self->listener, NULL);
	self->replay = pp_replay_new(context, options->tid, options->has_returns, take_call, self);
	self->woken = g_array_new(FALSE, FALSE, sizeof(int64_t));
	self->timers = g_array_new(FALSE, TRUE, sizeof(bool));
	return self;
}

void pp_timeline_free(struct pp_timeline *self)
{
	if (!self)
		return;
	if (self->track.held)
		g_string_free(self->track.held, TRUE);
	pp_replay_free(self->replay);
	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, g_free);
	g_array_unref(self->woken);
	g_array_unref(self->timers);
	g_free(self);
}
