/* SPDX-License-Identifier: MIT */
/*
 * The critical path by function, if there is a call history.  Time on the path belongs to the
 * innermost call, and counts as time within all active calls.  The latter is added when a call
 * ends, or when the time so far becomes part of another thread's path, so most events do not look
 * at the stack.  While only calls occur, all other sums stay pending, and are added to the chain
 * before the next event of another kind.
 */
#include "pass/critical_path/critical_path.h"
#include "analysis/select.h"

guint pp_critical_function(const struct pp_critical_track *track)
{
	guint n = track->stack.n;

	return n ? pp_call_at(&track->stack, n - 1)->function->number : PP_CRITICAL_NO_FUNCTION;
}

void pp_critical_count_calls(const struct pp_critical *self, struct pp_critical_track *track,
			     guint depth)
{
	const struct pp_call_stack *stack = &track->stack;
	guint at = stack->n;

	while (at > depth) {
		struct pp_call *call = pp_call_at(stack, at - 1);
		int64_t ns = 0;

		if (call->is_outermost && call->counted_ns < track->until_ns) {
			ns = pp_selected_ns(self->context, call->counted_ns, track->until_ns);
			call->counted_ns = track->until_ns;
		}
		if (ns)
			pp_chain_add(&track->chain,
				     pp_critical_key(PP_CRITICAL_WITHIN, call->function->number, 0),
				     ns);
		at = call->outermost_before;
	}
}

void pp_critical_restart_calls(struct pp_critical_track *track)
{
	const struct pp_call_stack *stack = &track->stack;
	guint at = stack->n;

	while (at > 0) {
		struct pp_call *call = pp_call_at(stack, at - 1);

		call->counted_ns = MAX(call->start_ns, track->until_ns);
		at = call->outermost_before;
	}
}

static void add_own(const struct pp_critical_track *track, struct pp_call *call)
{
	if (!call->own_ns)
		return;
	pp_chain_add(
	    &track->chain,
	    pp_critical_key(PP_CRITICAL_IN_FUNCTION, call->function->number, track->pending_mode),
	    call->own_ns);
	call->own_ns = 0;
}

void pp_critical_add_own(struct pp_critical_track *track)
{
	for (guint i = track->pending_depth; i < track->stack.n; i++)
		add_own(track, pp_call_at(&track->stack, i));
	track->pending_depth = track->stack.n;
}

void pp_critical_run(struct pp_critical *self, struct pp_critical_track *track,
		     const struct pp_thread *thread, int64_t until_ns, enum pp_mode mode)
{
	int64_t ns;
	guint n = track->stack.n;

	if (until_ns <= track->until_ns)
		return;
	if (!track->pending) {
		track->pending = thread;
		track->pending_ns = track->until_ns;
		track->pending_mode = mode;
		track->pending_depth = n;
		g_mutex_lock(self->functions.lock);
		g_ptr_array_add(self->pending, track);
		g_mutex_unlock(self->functions.lock);
	}
	ns = pp_selected_ns(self->context, track->until_ns, until_ns);
	track->until_ns = until_ns;
	if (!n && ns) {
		pp_chain_add(
		    &track->chain,
		    pp_critical_key(PP_CRITICAL_IN_FUNCTION, PP_CRITICAL_NO_FUNCTION, mode), ns);
	} else if (n) {
		pp_call_at(&track->stack, n - 1)->own_ns += ns;
		track->pending_depth = MIN(track->pending_depth, n - 1);
	}
}

static void cut(const struct pp_critical *self, struct pp_critical_track *track, guint depth)
{
	for (guint i = track->stack.n; i > depth; i--)
		add_own(track, pp_call_at(&track->stack, i - 1));
	pp_critical_count_calls(self, track, depth);
	pp_call_stack_cut(&track->stack, depth);
	track->pending_depth = MIN(track->pending_depth, depth);
}

static void on_call(const struct pp_critical *self, struct pp_critical_track *track,
		    const struct pp_event *event)
{
	const struct pp_process *process = event->thread->process;

	track->has_calls = true;
	cut(self, track, pp_call_stack_callers(&track->stack, event));
	if (!track->stack.n && event->call.from)
		pp_call_stack_push(&track->stack, process, event->call.from, 0, event->time_ns);
	pp_call_stack_push(&track->stack, process, event->call.self, event->call.from,
			   event->time_ns);
}

void pp_critical_follow_calls(const struct pp_critical *self, struct pp_critical_track *track,
			      const struct pp_event *event)
{
	guint depth;

	if (event->kind == PP_EVENT_CALL) {
		on_call(self, track, event);
	} else if (event->kind == PP_EVENT_RETURN) {
		track->stack.has_returns = true;
		depth = pp_call_stack_returning(&track->stack, event);
		if (depth)
			cut(self, track, depth - 1);
	} else if (event->sync.site && track->stack.n) {
		/* The callees of its function have ended, recorded or not. */
		depth =
		    pp_call_stack_holding(&track->stack, event->thread->process, event->sync.site);
		if (depth)
			cut(self, track, depth);
	}
}
