/* SPDX-License-Identifier: MIT */
/*
 * The critical path by function, where there is a history of calls.  A stretch is its innermost
 * call's own, and within all calls that went on; these are counted when they end, or when what
 * they did so far becomes part of another thread's path, so an event costs no look at the stack.
 */
#include "pass/critical_path.h"
#include "pass/select.h"

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

static void cut(const struct pp_critical *self, struct pp_critical_track *track, guint depth)
{
	pp_critical_count_calls(self, track, depth);
	pp_call_stack_cut(&track->stack, depth);
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
		/* What its function had called is over, whether that was recorded or not. */
		depth =
		    pp_call_stack_holding(&track->stack, event->thread->process, event->sync.site);
		if (depth)
			cut(self, track, depth);
	}
}
