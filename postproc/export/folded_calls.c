/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks of the history of calls: how often each was called, or how long it was the
 * innermost.
 *
 * Times are those between the records of a thread.  Before its first and after its last one nobody
 * knows what it did, so that is left out.
 */
#include <errno.h>
#include <inttypes.h>

#include "export/stacks.h"
#include "export/walk.h"
#include "pass/select.h"

/* Of one thread. */
struct nest {
	GPtrArray *stacks; /* of struct pp_stack *: the thread's own, then one for each call */
	int64_t since_ns;  /* until then all is accounted */
};

struct folded {
	const struct pp_export *export;
	bool is_time;
	struct pp_stacks *stacks;
	struct pp_walk *walk;
	GHashTable *nests; /* const struct pp_thread * -> struct nest * */
};

static void nest_free(void *data)
{
	struct nest *nest = data;

	g_ptr_array_unref(nest->stacks);
	g_free(nest);
}

static struct nest *nest_of(struct folded *self, const struct pp_thread *thread)
{
	struct nest *nest = g_hash_table_lookup(self->nests, thread);

	if (nest)
		return nest;
	nest = g_new0(struct nest, 1);
	nest->stacks = g_ptr_array_new();
	g_ptr_array_add(nest->stacks,
			pp_stacks_thread(self->stacks, thread, self->export->no_threads));
	g_hash_table_insert(self->nests, (void *)thread, nest);
	return nest;
}

/* The innermost call lasted until then, at least. */
static void account(const struct folded *self, struct nest *nest, int64_t until_ns)
{
	struct pp_stack *innermost = nest->stacks->pdata[nest->stacks->len - 1];
	int64_t ns = pp_selected_ns(self->export->context, nest->since_ns, until_ns);

	if (self->is_time && nest->stacks->len > 1 && ns > 0)
		innermost->value += (uint64_t)ns;
	nest->since_ns = until_ns;
}

static void enter(struct folded *self, struct nest *nest, const struct pp_replay_line *line,
		  int64_t time_ns)
{
	struct pp_stack *stack;

	account(self, nest, time_ns);
	g_ptr_array_set_size(nest->stacks, (int)line->depth + 1);
	stack = pp_stack_child(self->stacks, nest->stacks->pdata[line->depth], line->name);
	g_ptr_array_add(nest->stacks, stack);
	if (!self->is_time && pp_selects_time(self->export->context, time_ns))
		stack->value++;
}

static void leave(struct folded *self, struct nest *nest, const struct pp_replay_line *line,
		  int64_t time_ns)
{
	account(self, nest, time_ns);
	g_ptr_array_set_size(nest->stacks, (int)line->depth + 1);
}

static void take_line(void *data, const struct pp_replay_line *line)
{
	struct folded *self = data;
	struct nest *nest = nest_of(self, line->thread);

	if (line->kind != PP_REPLAY_RETURN)
		enter(self, nest, line, line->time_ns);
	if (line->kind == PP_REPLAY_LEAF)
		leave(self, nest, line, line->time_ns + line->duration_ns);
	else if (line->kind == PP_REPLAY_RETURN)
		leave(self, nest, line, line->time_ns);
}

static void *start(const struct pp_export *export, bool is_time)
{
	struct folded *self = g_new0(struct folded, 1);

	self->export = export;
	self->is_time = is_time;
	self->stacks = pp_stacks_new();
	self->walk = pp_walk_new(export, is_time, take_line, self);
	self->nests = g_hash_table_new_full(NULL, NULL, NULL, nest_free);
	return self;
}

static void *calls_start(const struct pp_export *export)
{
	return start(export, false);
}

static void *time_start(const struct pp_export *export)
{
	return start(export, true);
}

static void folded_event(void *state, const struct pp_event *event)
{
	pp_walk_event(((struct folded *)state)->walk, event);
}

static int folded_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	struct folded *self = state;
	const char *dir = self->export->context->model->dir;
	uint64_t rest;

	(void)end_ns;
	pp_walk_finish(self->walk);
	if (!pp_stacks_write(self->stacks, self->export->out))
		return pp_walk_left_out(self->walk)
			   ? pp_error_add(err, -ENODATA,
					  "%s: its history of calls tells of no return: build with "
					  "`-pg -mfentry -minstrument-return=call` or "
					  "`-finstrument-functions`, or take --what calls",
					  dir)
			   : pp_error_add(err, -ENOENT, "%s: no call is in all that is selected",
					  dir);
	rest = pp_stacks_rest(self->stacks);
	if (rest)
		pp_export_note(self->export, "%" PRIu64 " %s in '" PP_STACK_REST "'", rest,
			       self->is_time ? "ns are" : "calls are");
	return 0;
}

static void folded_free(void *state)
{
	struct folded *self = state;

	g_hash_table_unref(self->nests);
	pp_walk_free(self->walk);
	pp_stacks_free(self->stacks);
	g_free(self);
}

const struct pp_exporter pp_exporter_folded_calls = {
    .format = "folded",
    .what = "calls",
    .summary = "how often each stack was entered, from the history of calls",
    .file_name = "gprof-mt.folded",
    .kinds = PP_CALL_KINDS,
    .selects = PP_SELECT_THREAD | PP_SELECT_TIME,
    .has_thread_frames = true,
    .needs_history = true,
    .start = calls_start,
    .event = folded_event,
    .finish = folded_finish,
    .free = folded_free,
};

const struct pp_exporter pp_exporter_folded_time = {
    .format = "folded",
    .what = "time",
    .summary = "wall time of each, ns, from the history of calls with returns",
    .file_name = "gprof-mt.folded",
    .kinds = PP_CALL_KINDS,
    .selects = PP_SELECT_THREAD | PP_SELECT_TIME,
    .has_thread_frames = true,
    .needs_history = true,
    .start = time_start,
    .event = folded_event,
    .finish = folded_finish,
    .free = folded_free,
};
