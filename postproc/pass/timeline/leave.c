/* SPDX-License-Identifier: MIT */
/*
 * Determines why a thread leaves its CPU, from the switch and from the thread's current operation,
 * blocking call or system call.
 */
#include <inttypes.h>
#include <string.h>

#include "pass/timeline/line.h"
#include "pass/timeline/state.h"

#define STATE_STOPPED 0x0c /* TASK_STOPPED | TASK_TRACED */

const char *pp_timeline_name(struct pp_timeline *self, struct pp_object *object)
{
	if (!object->data || object->subject) {
		g_free(object->data);
		object->data = pp_object_name(object, self->context->namer);
	}
	return object->data;
}

void pp_timeline_add_site(const struct pp_timeline *self, GString *text, const char *before,
			  uint64_t address)
{
	const struct pp_namer *namer = self->context->namer;
	g_autofree char *site = NULL;

	if (!address || !namer || !namer->site)
		return;
	site = namer->site(namer->data, self->track.thread->process, address);
	g_string_append_printf(text, "%s%s", before, site);
}

int64_t pp_timeline_add_holder(struct pp_timeline *self, GString *text,
			       const struct pp_object *object, const struct pp_operation *operation)
{
	const struct pp_thread *thread = NULL;

	if (operation->op == ST_EVENT_thread_join) /* the thread is the object */
		return -1;
	for (guint i = 0; i < pp_object_n_holds(object); i++) {
		const struct pp_hold *hold = &g_array_index(object->holds, struct pp_hold, i);

		if (hold->superseded_ns != PP_TIME_UNKNOWN || hold->thread == self->track.thread)
			continue;
		g_string_append(text, ", held by ");
		pp_timeline_add_thread(text, hold->thread, -1, NULL);
		pp_timeline_add_site(self, text, " since ", hold->site);
		return hold->thread->tid;
	}
	if (!operation->holder)
		return -1;
	thread = pp_model_thread_at(self->context->model, operation->holder, self->now_ns);
	g_string_append(text, ", held by ");
	pp_timeline_add_thread(text, thread, operation->holder, NULL);
	return operation->holder;
}

static int64_t woken_ns(const struct pp_timeline *self, const struct pp_thread *thread)
{
	return thread->serial < self->woken->len
		   ? g_array_index(self->woken, int64_t, thread->serial)
		   : PP_TIME_UNKNOWN;
}

static enum pp_reason add_preemption(struct pp_timeline *self, GString *text,
				     const struct pp_event *event, int64_t *ret_tid)
{
	const struct pp_thread *next = event->sched_switch.next;
	int32_t tid = event->sched_switch.next_tid;
	bool yields = self->track.syscall && strcmp(self->track.syscall, "sched_yield") == 0;
	/* It was runnable before this thread got the CPU: this thread's time slice has ended. */
	bool waited =
	    next && self->track.on_ns != PP_TIME_UNKNOWN &&
	    (woken_ns(self, next) == PP_TIME_UNKNOWN || woken_ns(self, next) < self->track.on_ns);

	*ret_tid = tid;
	g_string_append(text, yields ? "yields" : waited ? "quantum expired" : "preempted");
	if (tid == 0)
		g_string_append(text, ", leaving its CPU idle: it migrates to another");
	else if (tid > 0) {
		g_string_append(text, yields || waited ? ": next is " : " by ");
		pp_timeline_add_thread(text, next, tid, event->sched_switch.next_comm);
	}
	return yields ? PP_REASON_YIELD : waited ? PP_REASON_QUANTUM : PP_REASON_PREEMPTED;
}

static enum pp_reason add_wait(struct pp_timeline *self, GString *text,
			       const struct pp_operation *operation, int64_t *ret_tid)
{
	struct pp_object *object = self->waits_on;
	enum pp_reason reason;

	if (!object || object->address != operation->object) {
		g_string_append_printf(text, "blocked in %s", pp_sync_function(operation->op));
		return PP_REASON_UNKNOWN;
	}
	reason = pp_reason_of_object(text, object->type, pp_timeline_name(self, object));
	*ret_tid = pp_timeline_add_holder(self, text, object, operation);
	pp_timeline_add_site(self, text, ", at ", operation->site);
	return reason;
}

/* `object`: what the call is for; NULL. */
static enum pp_reason add_blocking(GString *text, const char *call, const char *object,
				   bool is_disk)
{
	enum pp_reason reason = pp_reason_of_syscall(call);

	g_string_append_printf(text, "blocked in %s", call);
	if (object)
		g_string_append_printf(text, " on %s", object);
	if (is_disk)
		g_string_append(text, ", uninterruptible");
	/*
	 * These calls do not wait for a disk themselves; memory or a disk access on the way delayed
	 * them.
	 */
	return is_disk && reason != PP_REASON_READ && reason != PP_REASON_WRITE &&
		       reason != PP_REASON_CHILD
		   ? PP_REASON_DISK
		   : reason;
}

static enum pp_reason add_syscall(const struct pp_timeline *self, GString *text, bool is_disk)
{
	const struct track *track = &self->track;
	g_autofree char *fd =
	    track->syscall_fd >= 0 ? g_strdup_printf("fd %" PRId64, track->syscall_fd) : NULL;

	return add_blocking(text, track->syscall, fd, is_disk);
}

static enum pp_reason add_io(const struct pp_timeline *self, GString *text, const struct pp_io *io,
			     bool is_disk)
{
	g_autofree char *object = pp_io_object_text(io->call, io->fd, io->object);
	enum pp_reason reason = add_blocking(text, pp_io_name(io->call), object, is_disk);

	pp_timeline_add_site(self, text, ", at ", io->site);
	return reason;
}

/* The blocking call that the thread is in; NULL: none. */
static const struct pp_io *current_io(const struct pp_timeline *self)
{
	const struct pp_thread_state *state = pp_thread_state(self->states, self->track.thread);

	return state ? pp_thread_io(state) : NULL;
}

enum pp_reason pp_timeline_add_reason(struct pp_timeline *self, GString *text,
				      const struct pp_event *event, int64_t *ret_tid)
{
	int64_t state = event->sched_switch.prev_state;
	bool is_disk = state & PP_STATE_UNINTERRUPTIBLE;
	const struct pp_operation *operation =
	    pp_thread_operation(self->states, self->track.thread);
	const struct pp_io *io = current_io(self);

	if (pp_state_dead(state)) {
		g_string_append(text, "ended");
		return PP_REASON_EXIT;
	}
	if (pp_state_preempted(state))
		return add_preemption(self, text, event, ret_tid);
	if (state & STATE_STOPPED) {
		g_string_append(text, "stopped, by a signal or a debugger");
		return PP_REASON_STOPPED;
	}
	if (is_disk && self->track.faulted) {
		g_string_append_printf(text, "page fault at 0x%" PRIx64, self->track.fault_address);
		return PP_REASON_PAGE_FAULT;
	}
	if (io)
		return add_io(self, text, io, is_disk);
	if (operation && !is_disk)
		return add_wait(self, text, operation, ret_tid);
	if (self->track.syscall)
		return add_syscall(self, text, is_disk);
	if (is_disk) {
		g_string_append(text, "uninterruptible: block I/O, or a page fault");
		return PP_REASON_DISK;
	}
	g_string_append(text, "blocked outside of recorded operations");
	return PP_REASON_UNKNOWN;
}
