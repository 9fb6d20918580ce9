/* SPDX-License-Identifier: MIT */
/* Replays the calls of a thread and adds the time between two records to the current stack. */
#include "export/stacks/call_fold.h"

/* The call stack of one thread. */
struct nest {
	struct pp_stack **stacks; /* [0] is the thread's own stack, then one for each call */
	guint n, n_max;
	int64_t since_ns; /* time is accounted up to here */
};

struct pp_call_fold {
	const struct pp_export *export;
	struct pp_stacks *stacks;
	struct pp_call_fold_listener listener;
	struct pp_walk *walk;
	struct nest **nests; /* by serial of the thread; NULL: not started */
	guint n_threads;
};

static struct nest *begin_nest(struct pp_call_fold *self, const struct pp_thread *thread)
{
	struct nest *nest = g_new(struct nest, 1);

	*nest = (struct nest){.stacks = g_new(struct pp_stack *, 64), .n = 1, .n_max = 64};
	nest->stacks[0] = pp_stacks_thread(self->stacks, thread, self->export->no_threads);
	self->nests[thread->serial] = nest;
	return nest;
}

/* Adds the time up to until_ns to the innermost call. */
static void account(const struct pp_call_fold *self, const struct pp_thread *thread,
		    struct nest *nest, int64_t until_ns)
{
	if (self->listener.lasted && nest->n > 1)
		self->listener.lasted(self->listener.data, thread, nest->stacks[nest->n - 1],
				      nest->since_ns, until_ns);
	nest->since_ns = until_ns;
}

static void enter(const struct pp_call_fold *self, struct nest *nest,
		  const struct pp_replay_line *line, int64_t time_ns)
{
	struct pp_stack *stack;

	account(self, line->thread, nest, time_ns);
	stack = pp_stack_call(self->stacks, nest->stacks[line->depth], line->name);
	if (line->depth + 1 == nest->n_max) {
		nest->n_max *= 2;
		nest->stacks = g_renew(struct pp_stack *, nest->stacks, nest->n_max);
	}
	nest->stacks[line->depth + 1] = stack;
	nest->n = line->depth + 2;
	if (self->listener.entered)
		self->listener.entered(self->listener.data, line->thread, stack, time_ns);
}

static void leave(const struct pp_call_fold *self, struct nest *nest,
		  const struct pp_replay_line *line, int64_t time_ns)
{
	account(self, line->thread, nest, time_ns);
	nest->n = line->depth + 1;
}

static void take_line(void *data, const struct pp_replay_line *line)
{
	struct pp_call_fold *self = data;
	struct nest *nest = self->nests[line->thread->serial] ?: begin_nest(self, line->thread);

	if (line->kind != PP_REPLAY_RETURN)
		enter(self, nest, line, line->time_ns);
	if (line->kind == PP_REPLAY_LEAF)
		leave(self, nest, line, line->time_ns + line->duration_ns);
	else if (line->kind == PP_REPLAY_RETURN)
		leave(self, nest, line, line->time_ns);
}

struct pp_call_fold *pp_call_fold_new(const struct pp_export *export, struct pp_stacks *stacks,
				      bool only_returns,
				      const struct pp_call_fold_listener *listener)
{
	struct pp_call_fold *self = g_new0(struct pp_call_fold, 1);

	self->export = export;
	self->stacks = stacks;
	self->listener = *listener;
	self->walk = pp_walk_new(export, only_returns, take_line, self);
	self->n_threads = export->context->model->threads->len;
	self->nests = g_new0(struct nest *, self->n_threads);
	return self;
}

void pp_call_fold_free(struct pp_call_fold *self)
{
	if (!self)
		return;
	/* The walk owns the names. */
	pp_stacks_forget_names(self->stacks);
	for (guint i = 0; i < self->n_threads; i++) {
		if (self->nests[i])
			g_free(self->nests[i]->stacks);
		g_free(self->nests[i]);
	}
	g_free(self->nests);
	pp_walk_free(self->walk);
	g_free(self);
}

void pp_call_fold_event(struct pp_call_fold *self, const struct pp_event *event)
{
	pp_walk_event(self->walk, event);
}

void pp_call_fold_finish(struct pp_call_fold *self)
{
	pp_walk_finish(self->walk);
}

const struct pp_walk *pp_call_fold_walk(const struct pp_call_fold *self)
{
	return self->walk;
}
