/* SPDX-License-Identifier: MIT */
/* See thread_mode.h. */
#include "analysis/state/thread_mode.h"

#include "analysis/reason.h"
#include "analysis/select.h"

/*
 * TASK_REPORT: the bits of a task that is not runnable; higher bits are marks such as "preempted".
 */
#define STATE_CANNOT_GO_ON 0xff
#define STATE_DEAD	   0x30 /* EXIT_DEAD | EXIT_ZOMBIE */

bool pp_state_preempted(int64_t prev_state)
{
	return !(prev_state & STATE_CANNOT_GO_ON);
}

bool pp_state_dead(int64_t prev_state)
{
	return prev_state & STATE_DEAD;
}

/* Adds the time to the sums of the call that the thread is in. */
static void add_to_call(struct pp_thread_state *self, enum pp_mode mode,
			const struct pp_interval *interval, int64_t selected_ns)
{
	struct pp_operation *operation = pp_operations_innermost(&self->operations);

	if (interval->io && (mode == PP_MODE_BLOCKED_IO || mode == PP_MODE_BLOCKED_OTHER))
		self->io.blocked_ns += selected_ns;
	else if (interval->io && mode == PP_MODE_RUNNABLE)
		self->io.runnable_ns += selected_ns;
	else if (mode == PP_MODE_BLOCKED_SYNC && operation)
		operation->blocked_ns += interval->end_ns - interval->start_ns;
	else if (mode == PP_MODE_RUNNABLE && operation)
		operation->runnable_ns += selected_ns;
}

void pp_mode_close(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		   int64_t until_ns, enum pp_mode mode)
{
	struct pp_interval interval = {
	    .thread = self->thread,
	    .mode = mode,
	    .cpu = mode == PP_MODE_RUNNING ? self->cpu : PP_CPU_UNKNOWN,
	    .start_ns = self->since_ns,
	    .end_ns = until_ns,
	    .operation = pp_operations_innermost(&self->operations),
	    .io = pp_thread_io(self),
	    .waker = mode == PP_MODE_RUNNABLE ? self->waker : NULL,
	};
	int64_t selected_ns;

	if (until_ns <= self->since_ns)
		return;
	selected_ns = pp_selected_ns(observer->context, self->since_ns, until_ns);
	self->total_ns[mode] += selected_ns;
	self->since_ns = until_ns;
	self->end_ns = until_ns;
	add_to_call(self, mode, &interval, selected_ns);
	if (observer->listener->interval)
		observer->listener->interval(observer->listener->data, &interval);
}

void pp_mode_enter(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		   enum pp_mode mode)
{
	if (mode == PP_MODE_RUNNING && self->mode != PP_MODE_RUNNING)
		self->activities += pp_selects_time(observer->context, self->since_ns);
	self->mode = mode;
}

void pp_mode_change(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		    int64_t now_ns, enum pp_mode mode)
{
	pp_mode_close(observer, self, now_ns, self->mode);
	pp_mode_enter(observer, self, mode);
}

enum pp_mode pp_mode_in_io(enum st_io_call call)
{
	return pp_reason_is_io(pp_reason_of_syscall(pp_io_name(call))) ? PP_MODE_BLOCKED_IO
								       : PP_MODE_BLOCKED_OTHER;
}

enum pp_mode pp_mode_off_cpu(struct pp_thread_state *self, int64_t prev_state)
{
	self->uninterruptible = prev_state & PP_STATE_UNINTERRUPTIBLE;
	if (self->uninterruptible)
		return PP_MODE_BLOCKED_IO;
	if (pp_thread_io(self))
		return pp_mode_in_io(self->io.call);
	if (self->operations.depth)
		return PP_MODE_BLOCKED_SYNC;
	return self->syscall && pp_reason_is_io(pp_reason_of_syscall(self->syscall))
		   ? PP_MODE_BLOCKED_IO
		   : PP_MODE_BLOCKED_OTHER;
}
