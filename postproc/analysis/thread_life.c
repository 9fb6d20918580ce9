/* SPDX-License-Identifier: MIT */
/* See thread_life.h. */
#include "analysis/thread_life.h"

#include "analysis/select.h"

void pp_life_anomaly(struct pp_thread_states *states, enum pp_anomaly kind,
		     const struct pp_thread_state *self)
{
	pp_anomaly_add(states->anomalies, kind, self->thread);
}

const struct pp_operation *pp_life_innermost(const struct pp_thread_state *self)
{
	return self->depth ? &self->operations[self->depth - 1] : NULL;
}

/* --- intervals ------------------------------------------------------------------------------ */

void pp_life_close(struct pp_thread_states *states, struct pp_thread_state *self, int64_t until_ns,
		   enum pp_mode mode)
{
	struct pp_interval interval = {
	    .thread = self->thread,
	    .mode = mode,
	    .cpu = mode == PP_MODE_RUNNING ? self->cpu : PP_CPU_UNKNOWN,
	    .start_ns = self->since_ns,
	    .end_ns = until_ns,
	    .operation = pp_life_innermost(self),
	    .waker = mode == PP_MODE_RUNNABLE ? self->waker : NULL,
	};

	if (until_ns <= self->since_ns)
		return;
	self->total_ns[mode] += pp_selected_ns(states->context, self->since_ns, until_ns);
	self->since_ns = until_ns;
	self->end_ns = until_ns;
	if (mode == PP_MODE_BLOCKED_SYNC && self->depth)
		self->operations[self->depth - 1].blocked_ns += interval.end_ns - interval.start_ns;
	if (states->listener->interval)
		states->listener->interval(states->listener->data, &interval);
}

void pp_life_enter(struct pp_thread_states *states, struct pp_thread_state *self, enum pp_mode mode)
{
	if (mode == PP_MODE_RUNNING && self->mode != PP_MODE_RUNNING)
		self->activities += pp_selects_time(states->context, self->since_ns);
	self->mode = mode;
}

void pp_life_change(struct pp_thread_states *states, struct pp_thread_state *self, int64_t now_ns,
		    enum pp_mode mode)
{
	pp_life_close(states, self, now_ns, self->mode);
	pp_life_enter(states, self, mode);
}

/* --- birth and death ------------------------------------------------------------------------- */

static void report_operation(struct pp_thread_states *states, const struct pp_operation *operation)
{
	if (states->listener->operation)
		states->listener->operation(states->listener->data, operation);
}

void pp_life_give_up(struct pp_thread_states *states, struct pp_thread_state *self, unsigned keep,
		     int64_t end_ns)
{
	while (self->depth > keep) {
		struct pp_operation *operation = &self->operations[--self->depth];

		operation->end_ns = MAX(end_ns, operation->begin_ns);
		operation->finished = false;
		report_operation(states, operation);
	}
}

void pp_life_end(struct pp_thread_states *states, struct pp_thread_state *self, int64_t now_ns,
		 enum pp_mode mode)
{
	pp_life_close(states, self, now_ns, mode);
	pp_life_give_up(states, self, 0, now_ns);
	self->over = true;
}

void pp_life_start(struct pp_thread_states *states, struct pp_thread_state *self, int64_t now_ns,
		   enum pp_mode mode)
{
	void *tid = GUINT_TO_POINTER(self->thread->tid);
	struct pp_thread_state *before = g_hash_table_lookup(states->by_tid, tid);

	if (before && before != self && !before->over && before->start_ns <= now_ns)
		pp_life_end(states, before, now_ns, PP_MODE_UNKNOWN);
	if (!before || before->start_ns <= now_ns)
		g_hash_table_insert(states->by_tid, tid, self);
	self->begun = true;
	self->start_ns = now_ns;
	self->end_ns = now_ns;
	self->since_ns = now_ns;
	self->last_ns = now_ns;
	pp_life_enter(states, self, mode);
}

/* --- operations ----------------------------------------------------------------------------- */

/* Position of the wait that this completion or second begin belongs to; -1: none. */
static int find_operation(const struct pp_thread_state *self, enum st_event op, uint64_t object)
{
	for (int i = (int)self->depth - 1; i >= 0; i--)
		if (self->operations[i].op == op && self->operations[i].object == object)
			return i;
	return -1;
}

void pp_life_begin(struct pp_thread_states *states, struct pp_thread_state *self,
		   const struct pp_event *event)
{
	enum st_event op = pp_sync_completion(event->sync.op);
	int at = find_operation(self, op, event->sync.object);
	struct pp_operation *operation;

	if (at < 0 && self->depth == PP_OPERATION_DEPTH)
		at = PP_OPERATION_DEPTH - 1;
	if (at >= 0) {
		pp_life_anomaly(states, PP_ANOMALY_BEGIN_NO_COMPLETION, self);
		pp_life_give_up(states, self, (unsigned)at, PP_TIME_UNKNOWN);
	}
	/* Who waits for a spin lock runs. */
	if (!states->has_kernel && !pp_sync_has(op, PP_SYNC_SPINS))
		pp_life_change(states, self, event->time_ns, PP_MODE_BLOCKED_SYNC);
	operation = &self->operations[self->depth++];
	*operation = (struct pp_operation){
	    .thread = self->thread,
	    .op = op,
	    .holder = event->sync.holder,
	    .object = event->sync.object,
	    .site = event->sync.site,
	    .value = event->sync.value,
	    .object_era = event->sync.object_era,
	    .value_era = event->sync.value_era,
	    .waited = true,
	    .begin_ns = event->time_ns,
	    .end_ns = event->time_ns,
	};
	if (states->listener->begin)
		states->listener->begin(states->listener->data, operation);
}

/* One that did not wait, as most.  Field by field: a block of that size is cleared slowly. */
static void set_immediate(struct pp_operation *operation, const struct pp_thread_state *self,
			  const struct pp_event *event)
{
	operation->thread = self->thread;
	operation->op = event->sync.op;
	operation->holder = 0;
	operation->object = event->sync.object;
	operation->object_era = event->sync.object_era;
	operation->site = operation->value = operation->value_era = 0;
	operation->waited = operation->descheduled = false;
	operation->begin_ns = event->time_ns;
	operation->blocked_ns = 0;
}

void pp_life_complete(struct pp_thread_states *states, struct pp_thread_state *self,
		      const struct pp_event *event)
{
	int at = find_operation(self, event->sync.op, event->sync.object);
	struct pp_operation operation;

	if (at >= 0) {
		for (unsigned i = (unsigned)at + 1; i < self->depth; i++)
			pp_life_anomaly(states, PP_ANOMALY_BEGIN_NO_COMPLETION, self);
		pp_life_give_up(states, self, (unsigned)at + 1, PP_TIME_UNKNOWN);
		if (!states->has_kernel)
			pp_life_close(states, self, event->time_ns, self->mode);
		operation = self->operations[at];
		self->depth = (unsigned)at;
		if (!states->has_kernel && !self->depth)
			pp_life_enter(states, self, PP_MODE_UNKNOWN);
	} else {
		set_immediate(&operation, self, event);
		if (pp_sync_has(event->sync.op, PP_SYNC_YIELDS))
			pp_life_anomaly(states, PP_ANOMALY_COMPLETION_NO_BEGIN, self);
	}
	/* Nobody saw whether it gave up the CPU. */
	if (states->unseen && self->mode == PP_MODE_UNKNOWN)
		operation.descheduled |= operation.waited;
	operation.result = event->sync.result;
	operation.site = event->sync.site ? event->sync.site : operation.site;
	if (event->sync.value) {
		operation.value = event->sync.value;
		operation.value_era = event->sync.value_era;
	}
	operation.path = event->sync.path;
	operation.finished = true;
	operation.end_ns = event->time_ns;
	report_operation(states, &operation);
}
