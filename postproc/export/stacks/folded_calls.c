/* SPDX-License-Identifier: MIT */
/* Folded stacks of the history of calls: number of calls, or time as the innermost function. */
#include <inttypes.h>

#include "export/stacks/call_fold.h"
#include "export/stacks/speedscope.h"
#include "calls/pool.h"
#include "calls/survey.h"
#include "analysis/select.h"

/* Limit of stacks while several threads read; beyond it, a single thread reads. */
#define STACKS_AT_ONCE 400000

/* Events between two checks of the limit; an event adds at most one stack. */
#define ASK_EVENTS 1024

/* A rank combines the stream and the position in it. */
#define STREAM_SHIFT 40

/* The stacks that one reader builds. */
struct part {
	const struct folded *folded;
	struct pp_stacks *stacks;
	struct pp_call_fold *fold;
	/*
	 * Time and rank of the current event, to order stacks among all parts; unused with a single
	 * part.
	 */
	int64_t now_ns;
	uint64_t rank;
	bool is_over;
};

struct folded {
	const struct pp_export *export;
	bool is_time;
	struct part *whole;
	/* For reading streams in parallel: */
	struct pp_calls_pool pool;
	struct part **parts; /* by worker */
	guint stacks_max;    /* per part */
};

/* --- one part ------------------------------------------------------------------------------- */

static void on_entered(void *data, const struct pp_thread *thread, struct pp_stack *stack,
		       int64_t time_ns)
{
	const struct part *part = data;

	pp_stack_seen(stack, part->now_ns, part->is_over ? thread->serial : part->rank);
	if (!part->folded->is_time && pp_selects_time(part->folded->export->context, time_ns))
		stack->value++;
}

static void on_lasted(void *data, const struct pp_thread *thread, struct pp_stack *stack,
		      int64_t from_ns, int64_t to_ns)
{
	const struct part *part = data;
	int64_t ns = pp_selected_ns(part->folded->export->context, from_ns, to_ns);

	(void)thread;
	stack->value += (uint64_t)MAX(ns, 0);
}

static struct part *part_new(const struct folded *self)
{
	struct part *part = g_new0(struct part, 1);
	struct pp_call_fold_listener listener = {
	    .data = part,
	    .entered = on_entered,
	    .lasted = self->is_time ? on_lasted : NULL,
	};

	part->folded = self;
	part->stacks = pp_stacks_new(0);
	part->fold = pp_call_fold_new(self->export, part->stacks, self->is_time, &listener);
	return part;
}

static void part_finish(struct part *part)
{
	part->is_over = true;
	part->now_ns = INT64_MAX;
	pp_call_fold_finish(part->fold);
}

static void part_free(struct part *part)
{
	pp_call_fold_free(part->fold);
	pp_stacks_free(part->stacks);
	g_free(part);
}

/* --- parallel reading ----------------------------------------------------------------------- */

static bool take_stream(void *data, unsigned worker, guint at)
{
	struct folded *self = data;
	struct pp_calls_stream *stream = self->pool.streams->pdata[at];
	struct part *part = self->parts[worker];
	struct pp_event event;

	part->rank = (uint64_t)at << STREAM_SHIFT;
	while (pp_calls_stream_next(stream, &event)) {
		part->now_ns = event.time_ns;
		part->rank++;
		pp_call_fold_event(part->fold, &event);
		if (part->rank % ASK_EVENTS == 0 && pp_stacks_n(part->stacks) > self->stacks_max)
			return false;
	}
	return true;
}

/* Restores the order in which a single reader of all streams would have found the stacks. */
static void join_parts(struct folded *self)
{
	for (unsigned i = 0; i < self->pool.n_workers; i++) {
		part_finish(self->parts[i]);
		pp_stacks_join(self->whole->stacks, self->parts[i]->stacks);
		part_free(g_steal_pointer(&self->parts[i]));
	}
	pp_stacks_sort(self->whole->stacks);
	for (guint i = 0; i < self->pool.streams->len; i++)
		pp_calls_stream_tell(self->pool.streams->pdata[i]);
}

/*
 * Reads each stream separately, which is possible because a thread is in one stream and shares its
 * stack with no other.  Returns false if there are too many stacks: which of them are distinguished
 * then depends on all streams.
 */
static bool read_at_once(void *state, struct pp_capture *capture)
{
	struct folded *self = state;
	bool all = self->export->survey->is_apart;

	if (!all)
		return false;
	pp_calls_pool_init(&self->pool, capture, take_stream, self);
	self->stacks_max = STACKS_AT_ONCE / self->pool.n_workers;
	self->parts = g_new0(struct part *, self->pool.n_workers);
	for (unsigned i = 0; i < self->pool.n_workers; i++)
		self->parts[i] = part_new(self);
	all = pp_calls_pool_run(&self->pool);
	if (all)
		join_parts(self);
	for (unsigned i = 0; i < self->pool.n_workers; i++)
		g_clear_pointer(&self->parts[i], part_free);
	g_free(self->parts);
	pp_calls_pool_done(&self->pool);
	return all;
}

/* --- the exporters -------------------------------------------------------------------------- */

static void *start(const struct pp_export *export, bool is_time)
{
	struct folded *self = g_new0(struct folded, 1);

	self->export = export;
	self->is_time = is_time;
	self->whole = part_new(self);
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
	pp_call_fold_event(((struct folded *)state)->whole->fold, event);
}

static int folded_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	struct folded *self = state;
	const struct part *whole = self->whole;
	uint64_t rest;

	(void)end_ns;
	part_finish(self->whole);
	pp_walk_note(pp_call_fold_walk(whole->fold));
	if (!pp_export_stacks(self->export, whole->stacks, self->is_time ? "nanoseconds" : "none"))
		return pp_walk_no_stack(pp_call_fold_walk(whole->fold), err);
	rest = pp_stacks_rest(whole->stacks);
	if (rest)
		pp_export_note(self->export, "%" PRIu64 " %s in '" PP_STACK_REST "'", rest,
			       self->is_time ? "ns are" : "calls are");
	return 0;
}

static void folded_free(void *state)
{
	struct folded *self = state;

	part_free(self->whole);
	g_free(self);
}

const struct pp_exporter pp_exporter_folded_calls = {
    .format = "folded",
    .what = "calls",
    .summary = "flame graphs",
    .file_name = "gprof-mt.folded",
    .kinds = PP_CALL_KINDS,
    .selects = PP_SELECT_THREAD | PP_SELECT_TIME,
    .has_thread_frames = true,
    .needs_history = true,
    .start = calls_start,
    .read = read_at_once,
    .event = folded_event,
    .finish = folded_finish,
    .free = folded_free,
};

const struct pp_exporter pp_exporter_speedscope_calls = {
    .format = "speedscope",
    .what = "calls",
    .file_name = "gprof-mt.speedscope.json",
    .kinds = PP_CALL_KINDS,
    .selects = PP_SELECT_THREAD | PP_SELECT_TIME,
    .write_stacks = pp_speedscope_write_stacks,
    .needs_history = true,
    .start = calls_start,
    .event = folded_event,
    .finish = folded_finish,
    .free = folded_free,
};

const struct pp_exporter pp_exporter_folded_time = {
    .format = "folded",
    .what = "time",
    .file_name = "gprof-mt.folded",
    .kinds = PP_CALL_KINDS,
    .selects = PP_SELECT_THREAD | PP_SELECT_TIME,
    .has_thread_frames = true,
    .needs_history = true,
    .start = time_start,
    .read = read_at_once,
    .event = folded_event,
    .finish = folded_finish,
    .free = folded_free,
};
