/* SPDX-License-Identifier: MIT */
/*
 * For speedscope: the calls of each thread over time, from a history with returns.
 *
 * A call without a recorded return lasts until its thread does something outside it.  Events
 * outside the selected time are not written: calls that are active at its start are opened there.
 */
#include <errno.h>

#include "core/text/printable.h"
#include "export/stacks/speedscope.h"
#include "export/spool.h"
#include "export/stacks/walk.h"
#include "analysis/select.h"
#include "analysis/thread_cells.h"

struct call {
	unsigned frame;
	int64_t start_ns;
	bool is_open; /* its begin is written */
};

/* The active calls of one thread. */
struct nest {
	const struct pp_thread *thread;
	GArray *calls; /* of struct call */
	struct pp_spool_text events;
	struct pp_json_writer json; /* into events.text */
	int64_t first_ns, last_ns;  /* of written events, relative to the start of the capture */
	int64_t now_ns;
};

struct evented {
	const struct pp_export *export;
	struct pp_walk *walk;
	struct pp_speedscope file;
	struct pp_spool spool;
	GHashTable *nest_of; /* const struct pp_thread * -> struct nest * */
	GPtrArray *nests;    /* in order of first appearance */
	int64_t from_ns, to_ns;
};

static void nest_free(void *data)
{
	struct nest *nest = data;

	g_array_unref(nest->calls);
	pp_spool_text_done(&nest->events);
	g_free(nest);
}

static struct nest *get_nest(struct evented *self, const struct pp_thread *thread)
{
	struct nest *nest = g_hash_table_lookup(self->nest_of, thread);

	if (nest)
		return nest;
	nest = g_new0(struct nest, 1);
	nest->thread = thread;
	nest->calls = g_array_new(FALSE, FALSE, sizeof(struct call));
	nest->now_ns = INT64_MIN;
	pp_spool_text_init(&nest->events);
	nest->json.to = nest->events.text;
	g_hash_table_insert(self->nest_of, (void *)thread, nest);
	g_ptr_array_add(self->nests, nest);
	return nest;
}

static void write_event(struct evented *self, struct nest *nest, const char *type, unsigned frame,
			int64_t at_ns)
{
	struct pp_json_writer *json = &nest->json;

	at_ns = CLAMP(at_ns, self->from_ns, self->to_ns);
	if (!json->after_value)
		nest->first_ns = at_ns;
	nest->last_ns = at_ns;
	pp_json_write_newline(json);
	pp_json_write_open(json, NULL, '{');
	pp_json_write_text(json, "type", type);
	pp_json_write_count(json, "frame", frame);
	pp_json_write_int(json, "at", at_ns);
	pp_json_write_close(json, '}');
	pp_spool_flush(&self->spool, &nest->events);
}

/* Advances the thread's time; opens active calls when it reaches the selected time. */
static void advance(struct evented *self, struct nest *nest, int64_t now_ns)
{
	nest->now_ns = MAX(nest->now_ns, now_ns);
	if (nest->now_ns < self->from_ns)
		return;
	for (guint i = 0; i < nest->calls->len; i++) {
		struct call *call = &g_array_index(nest->calls, struct call, i);

		if (call->is_open || call->start_ns >= self->to_ns)
			continue;
		write_event(self, nest, "O", call->frame, call->start_ns);
		call->is_open = true;
	}
}

static void leave(struct evented *self, struct nest *nest, unsigned depth, int64_t now_ns)
{
	advance(self, nest, now_ns);
	while (nest->calls->len > depth) {
		const struct call *call =
		    &g_array_index(nest->calls, struct call, nest->calls->len - 1);

		if (call->is_open)
			write_event(self, nest, "C", call->frame, nest->now_ns);
		g_array_set_size(nest->calls, nest->calls->len - 1);
	}
}

static void enter(struct evented *self, struct nest *nest, const struct pp_replay_line *line,
		  int64_t now_ns)
{
	g_autofree char *name = pp_printable(g_strdup(line->name));
	struct call call = {.frame = pp_speedscope_frame(&self->file, name)};

	leave(self, nest, line->depth, now_ns);
	call.start_ns = nest->now_ns;
	g_array_append_val(nest->calls, call);
}

static void take_line(void *data, const struct pp_replay_line *line)
{
	struct evented *self = data;
	struct nest *nest = get_nest(self, line->thread);
	int64_t now_ns = line->time_ns - self->export->context->model->start_ns;

	if (line->kind != PP_REPLAY_RETURN)
		enter(self, nest, line, now_ns);
	if (line->kind == PP_REPLAY_LEAF)
		leave(self, nest, line->depth, now_ns + line->duration_ns);
	else if (line->kind == PP_REPLAY_RETURN)
		leave(self, nest, line->depth, now_ns);
}

static void *evented_start(const struct pp_export *export)
{
	const struct pp_selection *selection = export->context->selection;
	struct evented *self = g_new0(struct evented, 1);

	self->export = export;
	self->walk = pp_walk_new(export, true, take_line, self);
	self->spool = (struct pp_spool)PP_SPOOL_INIT;
	self->nest_of = g_hash_table_new(NULL, NULL);
	self->nests = g_ptr_array_new_with_free_func(nest_free);
	self->from_ns = selection ? selection->from_ns : INT64_MIN;
	self->to_ns = selection ? selection->to_ns : INT64_MAX;
	pp_speedscope_init(&self->file, export->out);
	return self;
}

static void evented_event(void *state, const struct pp_event *event)
{
	pp_walk_event(((struct evented *)state)->walk, event);
}

static int write_nest(struct evented *self, struct nest *nest, struct pp_error *err)
{
	g_autofree char *title = pp_printable(pp_thread_title(nest->thread));
	int ret;

	if (!nest->json.after_value)
		return 0;
	pp_speedscope_begin_profile(&self->file, "evented", title, "nanoseconds", nest->first_ns,
				    nest->last_ns);
	pp_json_write_open(&self->file.json, "events", '[');
	ret = pp_spool_copy(&self->spool, &nest->events, self->export->out, err);
	pp_json_write_close(&self->file.json, ']');
	pp_json_write_close(&self->file.json, '}');
	return ret;
}

static int evented_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	struct evented *self = state;
	int ret = 0;

	(void)end_ns;
	pp_walk_finish(self->walk);
	pp_walk_note(self->walk);
	for (guint i = 0; i < self->nests->len && ret == 0; i++) {
		struct nest *nest = self->nests->pdata[i];

		leave(self, nest, 0, nest->now_ns);
		ret = write_nest(self, nest, err);
	}
	if (ret == 0 && !self->file.n_profiles)
		return pp_walk_no_stack(self->walk, err);
	pp_speedscope_finish(&self->file);
	return ret;
}

static void evented_free(void *state)
{
	struct evented *self = state;

	pp_walk_free(self->walk);
	pp_speedscope_done(&self->file);
	g_hash_table_unref(self->nest_of);
	g_ptr_array_unref(self->nests);
	pp_spool_done(&self->spool);
	g_free(self);
}

const struct pp_exporter pp_exporter_speedscope_time = {
    .format = "speedscope",
    .what = "time",
    .summary = "stacks",
    .file_name = "gprof-mt.speedscope.json",
    .kinds = PP_CALL_KINDS,
    .selects = PP_SELECT_THREAD | PP_SELECT_TIME,
    .needs_history = true,
    .start = evented_start,
    .event = evented_event,
    .finish = evented_finish,
    .free = evented_free,
};
