/* SPDX-License-Identifier: MIT */
/* Subscribes to a call stack and converts its calls and returns to lines. */
#include "pass/replay.h"

#include "analysis/call_stack.h"

struct pp_replay {
	uint32_t tid;
	void (*take)(void *data, const struct pp_replay_line *line);
	void *data;
	const struct pp_thread *thread; /* the stack belongs to this thread */
	struct pp_functions *own;	/* own table of functions; NULL: a shared one is used */
	struct pp_call_stack stack;
	bool held; /* the innermost call, perhaps a leaf, has not been emitted yet */
};

static const struct pp_call *innermost(const struct pp_replay *replay)
{
	return pp_call_at(&replay->stack, replay->stack.n - 1);
}

static void emit(const struct pp_replay *replay, enum pp_replay_kind kind, int64_t time_ns,
		 int64_t duration_ns)
{
	struct pp_replay_line line = {
	    .kind = kind,
	    .thread = replay->thread,
	    .time_ns = time_ns,
	    .duration_ns = duration_ns,
	    .depth = pp_replay_depth(replay) - 1,
	    .name = innermost(replay)->function->name,
	};

	replay->take(replay->data, &line);
}

void pp_replay_release(struct pp_replay *replay)
{
	if (replay->held)
		emit(replay, PP_REPLAY_CALL, innermost(replay)->start_ns, PP_DURATION_UNKNOWN);
	replay->held = false;
}

static void begin_thread(struct pp_replay *replay, const struct pp_thread *thread)
{
	pp_replay_release(replay);
	replay->thread = thread;
	pp_call_stack_cut(&replay->stack, 0);
}

static void on_call(struct pp_replay *replay, const struct pp_event *event)
{
	struct pp_call_stack *stack = &replay->stack;

	pp_replay_release(replay);
	pp_call_stack_cut(stack, pp_call_stack_callers(stack, event));
	pp_call_stack_push(stack, event->thread->process, event->call.self, event->call.from,
			   event->time_ns);
	replay->held = true;
}

static void on_return(struct pp_replay *replay, const struct pp_event *event)
{
	guint depth = pp_call_stack_returning(&replay->stack, event);
	int64_t start_ns;

	/* entered before the history began, or in code whose returns are not recorded */
	if (depth == 0)
		return;
	if (depth < pp_replay_depth(replay))
		pp_replay_release(replay);
	pp_call_stack_cut(&replay->stack, depth);
	start_ns = innermost(replay)->start_ns;
	if (replay->held)
		emit(replay, PP_REPLAY_LEAF, start_ns, event->time_ns - start_ns);
	else
		emit(replay, PP_REPLAY_RETURN, event->time_ns, event->time_ns - start_ns);
	replay->held = false;
	pp_call_stack_cut(&replay->stack, depth - 1);
}

struct pp_replay *pp_replay_new_sharing(struct pp_functions *functions, uint32_t tid,
					bool has_returns,
					void (*take)(void *data, const struct pp_replay_line *line),
					void *data)
{
	struct pp_replay *replay = g_new0(struct pp_replay, 1);

	replay->tid = tid;
	replay->take = take;
	replay->data = data;
	pp_call_stack_init(&replay->stack, functions, has_returns);
	return replay;
}

struct pp_replay *pp_replay_new(const struct pp_pass_context *context, uint32_t tid,
				bool has_returns,
				void (*take)(void *data, const struct pp_replay_line *line),
				void *data)
{
	struct pp_functions *functions = g_new(struct pp_functions, 1);
	struct pp_replay *replay;

	pp_functions_init(functions, context->namer, context->model->lock);
	replay = pp_replay_new_sharing(functions, tid, has_returns, take, data);
	replay->own = functions;
	return replay;
}

void pp_replay_free(struct pp_replay *replay)
{
	if (!replay)
		return;
	pp_call_stack_done(&replay->stack);
	if (replay->own)
		pp_functions_done(replay->own);
	g_free(replay->own);
	g_free(replay);
}

void pp_replay_event(struct pp_replay *replay, const struct pp_event *event)
{
	if (event->thread->tid != replay->tid)
		return;
	if (event->thread != replay->thread)
		begin_thread(replay, event->thread);
	if (event->kind == PP_EVENT_CALL)
		on_call(replay, event);
	else if (event->kind == PP_EVENT_RETURN)
		on_return(replay, event);
}

unsigned pp_replay_depth(const struct pp_replay *replay)
{
	return replay->stack.n;
}
