/* SPDX-License-Identifier: MIT */
/*
 * Each thread has a call stack, and for each function the depth of its outermost call there: the
 * thread is in the function from that call until the stack is cut below it.
 */
#include "replay/call_times.h"

#include "analysis/call_stack.h"
#include "replay/shares.h"

struct inside {
	guint depth;	/* of the outermost call; 0: the thread is not in the function */
	uint64_t in_ns; /* of the present step */
};

struct follower {
	struct pp_call_stack stack;
	uint64_t seen_ns; /* CPU time of the present step that has been looked at */
	struct inside functions[];
};

struct pp_replay_call_times {
	const GPtrArray *patterns;
	bool (*has_returns)(const void *data, uint32_t serial);
	const void *data;
	struct pp_functions functions;
	GArray *is_match;  /* of uint8_t, by function and pattern; UNKNOWN: not looked up */
	uint64_t *n_calls; /* by pattern */
	uint64_t n_lone_returns;
	GPtrArray *followers; /* by serial; NULL: no call of the thread was seen */
	GArray *parts;	      /* of struct pp_replay_function_part, with serials of threads */
};

enum { UNKNOWN, NO_MATCH, MATCH };

static void follower_free(void *data)
{
	struct follower *follower = data;

	if (!follower)
		return;
	pp_call_stack_done(&follower->stack);
	g_free(follower);
}

struct pp_replay_call_times *
pp_replay_call_times_new(const struct pp_pass_context *context, const GPtrArray *functions,
			 bool (*has_returns)(const void *data, uint32_t serial), const void *data)
{
	struct pp_replay_call_times *self = g_new0(struct pp_replay_call_times, 1);

	self->patterns = functions;
	self->has_returns = has_returns;
	self->data = data;
	pp_functions_init(&self->functions, context->namer, context->model->lock);
	self->is_match = g_array_new(FALSE, TRUE, sizeof(uint8_t));
	self->n_calls = g_new0(uint64_t, functions->len);
	self->followers = g_ptr_array_new_with_free_func(follower_free);
	self->parts = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_function_part));
	return self;
}

void pp_replay_call_times_free(struct pp_replay_call_times *self)
{
	if (!self)
		return;
	g_ptr_array_unref(self->followers);
	pp_functions_done(&self->functions);
	g_array_unref(self->is_match);
	g_free(self->n_calls);
	g_array_unref(self->parts);
	g_free(self);
}

static struct follower *follower_at(const struct pp_replay_call_times *self, uint32_t serial)
{
	return serial < self->followers->len ? self->followers->pdata[serial] : NULL;
}

static struct follower *follower_of(struct pp_replay_call_times *self,
				    const struct pp_thread *thread)
{
	struct follower *follower = follower_at(self, thread->serial);

	if (follower)
		return follower;
	pp_by_serial_reach(self->followers, thread->serial);
	follower = g_malloc0(sizeof(*follower) + self->patterns->len * sizeof(struct inside));
	pp_call_stack_init(&follower->stack, &self->functions,
			   self->has_returns(self->data, thread->serial));
	self->followers->pdata[thread->serial] = follower;
	return follower;
}

static bool is_match(struct pp_replay_call_times *self, const struct pp_function *function,
		     guint pattern)
{
	guint at = function->number * self->patterns->len + pattern;
	uint8_t *known;

	if (at >= self->is_match->len)
		g_array_set_size(self->is_match, at + 1);
	known = &g_array_index(self->is_match, uint8_t, at);
	if (*known == UNKNOWN)
		*known = pp_replay_is_function(function->name, self->patterns->pdata[pattern])
			     ? MATCH
			     : NO_MATCH;
	return *known == MATCH;
}

/* --- events ----------------------------------------------------------------------------------- */

/* The thread has used CPU time up to that amount, in the functions that it is in. */
static void pass(const struct pp_replay_call_times *self, struct follower *follower,
		 uint64_t cpu_ns)
{
	uint64_t ns = cpu_ns - MIN(follower->seen_ns, cpu_ns);

	for (guint i = 0; i < self->patterns->len; i++)
		if (follower->functions[i].depth)
			follower->functions[i].in_ns += ns;
	follower->seen_ns = cpu_ns;
}

static void cut(const struct pp_replay_call_times *self, struct follower *follower, guint depth)
{
	pp_call_stack_cut(&follower->stack, depth);
	for (guint i = 0; i < self->patterns->len; i++)
		if (follower->functions[i].depth > depth)
			follower->functions[i].depth = 0;
}

static void enter(struct pp_replay_call_times *self, struct follower *follower,
		  const struct pp_event *event)
{
	struct pp_call_stack *stack = &follower->stack;
	const struct pp_function *function;

	cut(self, follower, pp_call_stack_callers(stack, event));
	pp_call_stack_push(stack, event->thread->process, event->call.self, event->call.from,
			   event->time_ns);
	function = pp_call_at(stack, stack->n - 1)->function;
	for (guint i = 0; i < self->patterns->len; i++) {
		if (!is_match(self, function, i))
			continue;
		self->n_calls[i]++;
		if (!follower->functions[i].depth)
			follower->functions[i].depth = stack->n;
	}
}

void pp_replay_call_times_event(struct pp_replay_call_times *self, const struct pp_event *event,
				uint64_t cpu_ns)
{
	struct follower *follower = follower_of(self, event->thread);
	guint depth;

	pass(self, follower, cpu_ns);
	if (event->kind == PP_EVENT_CALL) {
		enter(self, follower, event);
		return;
	}
	depth = pp_call_stack_returning(&follower->stack, event);
	if (depth)
		cut(self, follower, depth - 1);
	else
		self->n_lone_returns++;
}

void pp_replay_call_times_step(struct pp_replay_call_times *self, uint32_t serial, uint32_t step,
			       uint64_t cpu_ns)
{
	struct follower *follower = follower_at(self, serial);

	if (!follower)
		return;
	pass(self, follower, cpu_ns);
	follower->seen_ns = 0;
	for (guint i = 0; i < self->patterns->len; i++) {
		struct pp_replay_function_part part = {
		    serial, step, i, (double)follower->functions[i].in_ns / (double)MAX(cpu_ns, 1)};

		if (follower->functions[i].in_ns)
			g_array_append_val(self->parts, part);
		follower->functions[i].in_ns = 0;
	}
}

void pp_replay_call_times_skip(struct pp_replay_call_times *self, uint32_t serial, uint64_t cpu_ns)
{
	struct follower *follower = follower_at(self, serial);

	if (!follower)
		return;
	pass(self, follower, cpu_ns);
	for (guint i = 0; i < self->patterns->len; i++)
		follower->functions[i].in_ns = 0;
}

/* --- the model -------------------------------------------------------------------------------- */

/* Returns false if no thread's returns are recorded. */
static bool count_missing(const struct pp_replay_call_times *self,
			  uint32_t (*number_of)(void *data, uint32_t serial), void *data,
			  struct pp_replay_gaps *gaps)
{
	uint64_t n_known = 0, n_unknown = 0;

	for (guint i = 0; i < self->followers->len; i++) {
		const struct follower *follower = follower_at(self, i);

		if (follower && number_of(data, i) != UINT32_MAX)
			*(follower->stack.has_returns ? &n_known : &n_unknown) += 1;
	}
	gaps->lone_returns = self->n_lone_returns;
	gaps->without_returns = n_known ? n_unknown : 0;
	return n_known != 0;
}

void pp_replay_call_times_finish(struct pp_replay_call_times *self, struct pp_replay_model *model,
				 uint32_t (*number_of)(void *data, uint32_t serial), void *data,
				 struct pp_replay_gaps *gaps)
{
	if (!count_missing(self, number_of, data, gaps))
		return;
	for (guint i = 0; i < self->patterns->len; i++)
		pp_replay_add_function(model, self->patterns->pdata[i], self->n_calls[i]);
	for (guint i = 0; i < self->parts->len; i++) {
		struct pp_replay_function_part part =
		    g_array_index(self->parts, struct pp_replay_function_part, i);
		bool is_known = follower_at(self, part.thread)->stack.has_returns;

		part.thread = number_of(data, part.thread);
		if (is_known && part.thread != UINT32_MAX)
			g_array_append_val(model->parts, part);
	}
	pp_replay_sort_parts(model);
}
