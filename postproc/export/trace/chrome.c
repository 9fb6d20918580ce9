/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace events, as JSON: the same as for Perfetto, for the many programs that read them.
 * Text takes ten times the room and time, so of small captures only.
 *
 * The format knows processes and threads; a track that is neither, of states or of a lock, is a
 * thread with a number beyond those that Linux gives out.
 */
#include <errno.h>
#include <inttypes.h>

#include "export/trace/story.h"
#include "export/trace/tracks.h"
#include "analysis/select.h"

#define EVENTS_MAX 100000

/* Above PID_MAX_LIMIT, 2^22. */
#define TRACK_TID (UINT64_C(1) << 24)

struct chrome {
	const struct pp_export *export;
	struct pp_story *story;
	GHashTable *tracks;
	uint64_t n_events;
	GString *starts; /* of flows: events for the end of the file */
};

/* What an event has before its own: "{...,"; after it comes the rest and "}". */
static void add_event(struct chrome *self, GString *text, const char *phase,
		      const struct pp_track *track)
{
	uint64_t tid = TRACK_TID + track->number;

	if (track->key.kind == PP_TRACK_OPERATIONS)
		tid = ((const struct pp_thread *)track->key.of)->tid;
	if (track->key.kind == PP_TRACK_PROCESS)
		tid = 0;
	g_string_append_printf(text, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu64 ",",
			       self->n_events++ ? "," : "", phase,
			       pp_track_process(&track->key)->pid, tid);
}

static void begin_event(struct chrome *self, const char *phase, const struct pp_track *track)
{
	add_event(self, self->export->out->text, phase, track);
	pp_out_flush(self->export->out);
}

/* "name":12.345: microseconds, exactly. */
static void add_time(GString *text, const char *name, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	g_string_append_printf(text, "\"%s\":%s%" PRIu64 ".%03u", name, ns < 0 ? "-" : "",
			       size / 1000, (unsigned)(size % 1000));
}

static const struct pp_track *track_of(struct chrome *self, struct pp_track_key key);

static void write_name(struct chrome *self, const struct pp_track *track, const char *what,
		       const char *name)
{
	GString *text = self->export->out->text;

	begin_event(self, "M", track);
	g_string_append_printf(text, "\"name\":\"%s\",\"args\":{\"name\":", what);
	pp_out_json(text, name ?: "");
	g_string_append(text, "}}");
}

/* Threads as they began, each with its states below it; then locks. */
static void write_order(struct chrome *self, const struct pp_track *track)
{
	unsigned n_threads = self->export->context->model->threads->len;
	uint64_t at = 2 * (uint64_t)n_threads + track->number;

	if (track->key.kind != PP_TRACK_LOCK)
		at = 2 * (uint64_t)((const struct pp_thread *)track->key.of)->serial +
		     (track->key.kind == PP_TRACK_STATES);
	begin_event(self, "M", track);
	g_string_append_printf(
	    self->export->out->text,
	    "\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu64 "}}", at);
}

/* Of a track that stands for a thread. */
static char *name_of(struct chrome *self, const struct pp_track_key *key)
{
	const struct pp_thread *thread = key->of;

	if (key->kind == PP_TRACK_LOCK)
		return g_strconcat("lock ",
				   pp_story_object(self->story, (struct pp_object *)key->of), NULL);
	if (key->kind == PP_TRACK_STATES)
		return g_strdup_printf("%s (tid %u): state", thread->name ?: "thread", thread->tid);
	return g_strdup(thread->name ?: "thread");
}

/* The process is told of with its first track. */
static void write_track(struct chrome *self, const struct pp_track *track)
{
	const struct pp_process *process = pp_track_process(&track->key);
	g_autofree char *name = NULL;

	if (track->key.kind == PP_TRACK_PROCESS) {
		name = pp_track_process_name(process);
		write_name(self, track, "process_name", name);
		return;
	}
	(void)track_of(self, (struct pp_track_key){PP_TRACK_PROCESS, process, NULL});
	name = name_of(self, &track->key);
	write_name(self, track, "thread_name", name);
	write_order(self, track);
}

static const struct pp_track *track_of(struct chrome *self, struct pp_track_key key)
{
	bool is_new;
	const struct pp_track *track = pp_tracks_get(self->tracks, key, &is_new);

	if (is_new)
		write_track(self, track);
	return track;
}

/*
 * Begins or ends in the slice that its track has at that time.  A release is none: it begins in its
 * thread's state.  Of two states that meet there the later may not be written yet, and the earlier
 * is over: so such events are the last in the file.
 */
static void write_flow(struct chrome *self, const struct pp_track *track,
		       const struct pp_slice *slice)
{
	bool begins = slice->kind == PP_SLICE_RELEASE;
	GString *text = begins ? self->starts : self->export->out->text;

	if (begins)
		track = track_of(self, (struct pp_track_key){PP_TRACK_STATES, slice->thread, NULL});
	add_event(self, text, begins ? "s" : "f", track);
	g_string_append_printf(text, "\"cat\":\"wake\",\"name\":\"wake\",\"id\":%" PRIu64 ",%s",
			       slice->flow, begins ? "" : "\"bp\":\"e\",");
	add_time(text, "ts", slice->end_ns);
	g_string_append_c(text, '}');
}

static const char *category_of(const struct pp_slice *slice)
{
	static const char *const names[] = {
	    [PP_SLICE_STATE] = "state",
	    [PP_SLICE_WAIT] = "wait",
	    [PP_SLICE_RELEASE] = "release",
	    [PP_SLICE_HOLD] = "hold",
	};

	return names[slice->kind];
}

static void write_notes(struct chrome *self, const struct pp_slice *slice)
{
	GString *text = self->export->out->text;

	g_string_append(text, ",\"args\":{");
	for (unsigned i = 0; i < slice->n_notes; i++) {
		const struct pp_slice_note *note = &slice->notes[i];

		g_string_append(text, i ? "," : "");
		pp_out_json(text, note->key);
		g_string_append_c(text, ':');
		if (note->text)
			pp_out_json(text, note->text);
		else
			g_string_append_printf(text, "%" PRId64, note->number);
	}
	g_string_append_c(text, '}');
}

/* Up to its end: "...,"; notes may follow. */
static void begin_slice(struct chrome *self, const char *phase, const struct pp_track *track,
			const struct pp_slice *slice, const char *name, int64_t time_ns)
{
	GString *text = self->export->out->text;

	begin_event(self, phase, track);
	g_string_append_printf(text, "\"cat\":\"%s\",\"name\":", category_of(slice));
	pp_out_json(text, name);
	g_string_append_c(text, ',');
	add_time(text, "ts", time_ns);
}

/* Some readers look for its name. */
static void end_slice(struct chrome *self, const struct pp_track *track, const char *name,
		      int64_t time_ns)
{
	GString *text = self->export->out->text;

	begin_event(self, "E", track);
	g_string_append(text, "\"name\":");
	pp_out_json(text, name);
	g_string_append_c(text, ',');
	add_time(text, "ts", time_ns);
	g_string_append_c(text, '}');
}

/* The flow, within what it leads to, if that has any length. */
static void write_woken(struct chrome *self, const struct pp_track *track,
			const struct pp_slice *wait)
{
	if (wait->woken_ns == wait->end_ns) {
		write_flow(self, track, wait);
		return;
	}
	begin_slice(self, "B", track, wait, PP_STORY_WOKEN, wait->woken_ns);
	g_string_append_c(self->export->out->text, '}');
	write_flow(self, track, wait);
	end_slice(self, track, PP_STORY_WOKEN, wait->end_ns);
}

/*
 * A begin and an end, as readers' sums of a begin and a duration are not exact.  What has no length
 * is an instant: its end would be read before its begin.
 */
static void take_slice(void *data, const struct pp_slice *slice)
{
	struct chrome *self = data;
	GString *text = self->export->out->text;
	bool is_instant = slice->end_ns == slice->start_ns;
	const struct pp_track *track;

	if (self->n_events > EVENTS_MAX)
		return;
	track = track_of(self, pp_track_of_slice(slice));
	begin_slice(self, is_instant ? "i" : "B", track, slice, slice->name, slice->start_ns);
	g_string_append(text, is_instant ? ",\"s\":\"t\"" : "");
	write_notes(self, slice);
	g_string_append_c(text, '}');
	if (slice->flow && slice->kind == PP_SLICE_RELEASE)
		write_flow(self, track, slice);
	else if (slice->flow)
		write_woken(self, track, slice);
	if (!is_instant)
		end_slice(self, track, slice->name, slice->end_ns);
}

static void *chrome_start(const struct pp_export *export)
{
	struct chrome *self = g_new0(struct chrome, 1);

	self->export = export;
	self->story = pp_story_new(export, take_slice, self);
	self->tracks = pp_tracks_new();
	self->starts = g_string_new(NULL);
	g_string_append(export->out->text,
			"{\"otherData\":{\"producer\":\"gprof-mt " GM_VERSION
			"\",\"clock\":\"CLOCK_MONOTONIC\"},\"displayTimeUnit\":\"ns\","
			"\"traceEvents\":[");
	return self;
}

static void chrome_event(void *state, const struct pp_event *event)
{
	struct chrome *self = state;

	if (self->n_events <= EVENTS_MAX)
		pp_story_event(self->story, event);
}

static int chrome_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	struct chrome *self = state;
	const char *dir = self->export->context->model->dir;

	pp_story_finish(self->story, end_ns);
	if (!self->n_events)
		return pp_story_nothing(self->export, err);
	if (self->n_events > EVENTS_MAX)
		return pp_error_add(err, -EFBIG,
				    "%s: more than %d events are too many for this format: take "
				    "--format perfetto, or a part by --time",
				    dir, EVENTS_MAX);
	g_string_append(self->export->out->text, self->starts->str);
	g_string_append(self->export->out->text, "]}\n");
	pp_story_note_kernel(self->export);
	return 0;
}

static void chrome_free(void *state)
{
	struct chrome *self = state;

	g_hash_table_unref(self->tracks);
	g_string_free(self->starts, TRUE);
	pp_story_free(self->story);
	g_free(self);
}

const struct pp_exporter pp_exporter_chrome = {
    .format = "chrome",
    .summary = "the same as JSON for Chrome's viewers, of small captures",
    .file_name = "gprof-mt.trace.json",
    .kinds = PP_STORY_KINDS,
    .selects = PP_STORY_SELECTS,
    .start = chrome_start,
    .event = chrome_event,
    .finish = chrome_finish,
    .free = chrome_free,
};
