/* SPDX-License-Identifier: MIT */
/*
 * Selects a reader for each trace: traces written by our own programs and call histories are read
 * directly, others through Babeltrace.
 */
#include "events/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/traces.h"
#include "ctf/babeltrace/babeltrace.h"
#include "calls/parallel_read.h"
#include "calls/history.h"
#include "core/progress.h"
#include "ctf/direct.h"
#include "ctf/stream_file.h"
#include "ctf/windowed.h"

#define KERNEL_KINDS                                                                               \
	(PP_EVENT_MASK(PP_EVENT_SWITCH) | PP_EVENT_MASK(PP_EVENT_WAKING) |                         \
	 PP_EVENT_MASK(PP_EVENT_FORK) | PP_EVENT_MASK(PP_EVENT_EXIT) |                             \
	 PP_EVENT_MASK(PP_EVENT_EXEC) | PP_EVENT_MASK(PP_EVENT_STATE) |                            \
	 PP_EVENT_MASK(PP_EVENT_UNSEEN) | PP_EVENT_MASK(PP_EVENT_SYSCALL_ENTRY) |                  \
	 PP_EVENT_MASK(PP_EVENT_SYSCALL_EXIT) | PP_EVENT_MASK(PP_EVENT_FAULT) |                    \
	 PP_EVENT_MASK(PP_EVENT_SIGNAL) | PP_EVENT_MASK(PP_EVENT_BLOCK) |                          \
	 PP_EVENT_MASK(PP_EVENT_TIMER))

struct calls_feed {
	struct pp_feed feed;
	struct pp_calls_stream *calls;
	struct pp_decoder *decoder;
	struct pp_event event; /* the current event */
};

struct direct_feed {
	struct pp_feed feed;
	struct pp_direct_stream *direct;
};

/* The traces to be read, by reader. */
struct readers {
	struct pp_sweep sweep;
	GPtrArray *histories;	      /* of struct pp_calls_stream * */
	GPtrArray *direct;	      /* of struct pp_direct_trace * */
	GPtrArray *feeds;	      /* of struct pp_feed *, of both */
	GPtrArray *others;	      /* of struct pp_trace *, to be read through Babeltrace */
	struct pp_calls_apart *apart; /* NULL: call histories are among the feeds */
	struct pp_windowed *windowed; /* NULL: everything is read */
};

/* --- call histories ------------------------------------------------------------------------- */

static bool calls_advance(struct pp_feed *base)
{
	struct calls_feed *feed = (struct calls_feed *)base;

	if (!pp_calls_stream_next(feed->calls, &feed->event))
		return false;
	base->time_ns = feed->event.time_ns;
	return true;
}

static void calls_emit(struct pp_feed *base)
{
	struct calls_feed *feed = (struct calls_feed *)base;

	pp_decoder_emit(feed->decoder, &feed->event);
}

/*
 * Call histories are added before other feeds, since a call precedes the events of the called
 * function.
 */
static void add_histories(struct readers *readers)
{
	struct pp_decoder *decoder = &readers->sweep.decoder;

	if (!(decoder->kinds & PP_CALL_KINDS))
		return;
	readers->histories = pp_calls_streams_new(decoder->capture);
	for (guint i = 0; i < readers->histories->len; i++) {
		struct calls_feed *feed = g_new0(struct calls_feed, 1);

		feed->feed.advance = calls_advance;
		feed->feed.emit = calls_emit;
		feed->calls = readers->histories->pdata[i];
		feed->decoder = decoder;
		g_ptr_array_insert(readers->feeds, (gint)i, feed);
	}
}

/* --- our own traces ------------------------------------------------------------------------- */

static bool direct_advance(struct pp_feed *base)
{
	struct direct_feed *feed = (struct direct_feed *)base;

	return pp_direct_stream_next(feed->direct, &base->time_ns);
}

static void direct_emit(struct pp_feed *base)
{
	struct direct_feed *feed = (struct direct_feed *)base;

	pp_direct_stream_emit(feed->direct, base->time_ns);
}

static struct pp_feed *direct_feed_new(struct pp_direct_stream *stream)
{
	struct direct_feed *feed = g_new0(struct direct_feed, 1);

	feed->feed.advance = direct_advance;
	feed->feed.emit = direct_emit;
	feed->direct = stream;
	return &feed->feed;
}

static void add_direct(struct readers *readers, struct pp_direct_trace *trace)
{
	const GPtrArray *streams = pp_direct_streams(trace);

	g_ptr_array_add(readers->direct, trace);
	for (guint i = 0; i < streams->len; i++)
		g_ptr_array_add(readers->feeds,
				readers->windowed
				    ? pp_windowed_add(readers->windowed, streams->pdata[i])
				    : direct_feed_new(streams->pdata[i]));
}

/* For tests that compare the two readers. */
static bool only_babeltrace(void)
{
	const char *reader = getenv("GPROF_MT_READER");

	return reader && strcmp(reader, "babeltrace") == 0;
}

bool pp_events_have_windows(const struct pp_capture *capture)
{
	for (guint i = 0; i < capture->traces->len; i++)
		if (((const struct pp_trace *)capture->traces->pdata[i])->is_ust)
			return false;
	return !only_babeltrace();
}

static bool is_wanted(const struct pp_trace *trace, unsigned kinds)
{
	unsigned held = PP_EVENT_MASK(PP_EVENT_LOST);

	if (trace->is_samples)
		held = PP_EVENT_MASK(PP_EVENT_SAMPLE);
	else if (trace->is_accesses)
		held = PP_ACCESS_KINDS;
	else if (trace->process || trace->is_ust)
		held |= PP_EVENT_MASK(PP_EVENT_SYNC) | PP_IO_KINDS;
	else
		held |= KERNEL_KINDS;
	return held & kinds;
}

static void add_traces(struct readers *readers)
{
	struct pp_decoder *decoder = &readers->sweep.decoder;
	const GPtrArray *traces = decoder->capture->traces;

	for (guint i = 0; i < traces->len; i++) {
		struct pp_trace *trace = traces->pdata[i];
		struct pp_direct_trace *direct;

		if (!is_wanted(trace, decoder->kinds))
			continue;
		direct = only_babeltrace() ? NULL : pp_direct_trace_new(decoder, trace);
		if (direct)
			add_direct(readers, direct);
		else
			g_ptr_array_add(readers->others, trace);
	}
}

/* --- all traces ----------------------------------------------------------------------------- */

static int run(struct readers *readers, struct pp_error *err)
{
	struct pp_sweep *sweep = &readers->sweep;

	for (guint i = 0; i < readers->feeds->len; i++) {
		struct pp_feed *feed = readers->feeds->pdata[i];

		feed->order = i;
		pp_sweep_add(sweep, feed);
	}
	if (readers->others->len)
		return pp_babeltrace_run(sweep, readers->others, readers->feeds->len, err);
	pp_sweep_start(sweep);
	pp_sweep_run(sweep, UINT64_MAX);
	if (readers->apart)
		pp_calls_apart_finish(readers->apart);
	return 0;
}

static void readers_done(struct readers *readers)
{
	g_ptr_array_unref(readers->feeds);
	g_clear_pointer(&readers->histories, g_ptr_array_unref);
	pp_calls_apart_free(readers->apart);
	pp_windowed_free(readers->windowed);
	g_ptr_array_unref(readers->direct);
	g_ptr_array_unref(readers->others);
	g_free(readers->sweep.heap);
}

/* Traces for Babeltrace are added in a sweep of their own. */
static void add_all(struct readers *readers, bool calls_apart)
{
	add_traces(readers);
	if (calls_apart && !readers->others->len && readers->sweep.decoder.kinds & PP_CALL_KINDS)
		readers->apart = pp_calls_apart_new(&readers->sweep);
	if (!readers->apart)
		add_histories(readers);
	if (readers->windowed)
		pp_windowed_place(readers->windowed,
				  pp_model_origin(readers->sweep.decoder.capture->model),
				  readers->sweep.decoder.capture->model->end_ns);
}

static uint64_t sum_bytes(const struct readers *readers)
{
	const GPtrArray *histories =
	    readers->apart ? pp_calls_apart_streams(readers->apart) : readers->histories;
	uint64_t bytes = 0;

	for (guint i = 0; i < readers->direct->len; i++) {
		const GPtrArray *streams = pp_direct_streams(readers->direct->pdata[i]);

		for (guint k = 0; k < streams->len; k++)
			bytes += pp_direct_stream_bytes(streams->pdata[k]);
	}
	for (guint i = 0; histories && i < histories->len; i++)
		bytes += pp_calls_stream_bytes(histories->pdata[i]);
	for (guint i = 0; i < readers->others->len; i++)
		bytes += pp_trace_bytes(readers->others->pdata[i]);
	return bytes;
}

static int read_events(struct readers *readers, bool calls_apart, struct pp_error *err)
{
	struct pp_decoder *decoder = &readers->sweep.decoder;
	struct pp_capture *capture = decoder->capture;
	int ret;

	pp_stream_files_raise_limit();
	readers->feeds = g_ptr_array_new_with_free_func(g_free);
	readers->direct = g_ptr_array_new_with_free_func((GDestroyNotify)pp_direct_trace_free);
	readers->others = g_ptr_array_new();
	add_all(readers, calls_apart);
	pp_progress_begin(sum_bytes(readers));
	ret = readers->windowed && readers->others->len
		  ? pp_error_add(err, -ENOTSUP, "only whole traces can be read through Babeltrace")
		  : run(readers, err);
	if (ret == 0 && readers->sweep.stopped)
		ret = pp_error_add(err, -ECANCELED, "stopped");
	pp_progress_end();
	readers_done(readers);
	if (ret == 0 && decoder->kinds & KERNEL_KINDS)
		pp_missing_kernel_events(capture, decoder->n_kernel_events);
	pp_decoder_done(decoder);
	return ret < 0 ? pp_error_add(err, ret, "%s: reading events", capture->model->dir) : 0;
}

int pp_events_read(struct pp_capture *capture, unsigned kinds,
		   void (*take)(void *data, const struct pp_event *event), void *data,
		   struct pp_error *err)
{
	return pp_events_read_while(capture, kinds, take, NULL, data, err);
}

int pp_events_read_while(struct pp_capture *capture, unsigned kinds,
			 void (*take)(void *data, const struct pp_event *event),
			 bool (*go_on)(void *data), void *data, struct pp_error *err)
{
	struct readers readers = {.sweep.go_on = go_on};

	if (!kinds)
		return 0;
	pp_decoder_init(&readers.sweep.decoder, capture, kinds, take, data);
	return read_events(&readers, false, err);
}

int pp_events_read_apart(struct pp_capture *capture, unsigned kinds,
			 void (*take)(void *data, const struct pp_event *event), void *data,
			 struct pp_error *err)
{
	struct readers readers = {0};

	if (!kinds)
		return 0;
	pp_decoder_init(&readers.sweep.decoder, capture, kinds, take, data);
	return read_events(&readers, true, err);
}

int pp_events_read_windows(struct pp_capture *capture, unsigned kinds, struct pp_windows *windows,
			   uint64_t max_bytes,
			   void (*take)(void *data, const struct pp_event *event),
			   bool (*go_on)(void *data), void *data, struct pp_error *err)
{
	struct readers readers = {.sweep.go_on = go_on};

	if (!kinds)
		return 0;
	readers.windowed = pp_windowed_new(windows, max_bytes);
	pp_decoder_init(&readers.sweep.decoder, capture, kinds, take, data);
	return read_events(&readers, false, err);
}

static void take_nothing(void *data, const struct pp_event *event)
{
	(void)data;
	(void)event;
}

/* Restores the list of problems, with these counts. */
static void restore_problems(GPtrArray *problems, const GArray *counts)
{
	g_ptr_array_set_size(problems, (gint)counts->len);
	for (guint i = 0; i < counts->len; i++)
		((struct pp_problem *)problems->pdata[i])->count =
		    g_array_index(counts, uint64_t, i);
}

int pp_events_name_threads(struct pp_capture *capture, struct pp_error *err)
{
	GPtrArray *problems = capture->model->problems;
	g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	unsigned kinds = PP_EVENT_MASK(PP_EVENT_EXIT);
	guint n_damage = capture->damage->len;
	int ret;

	if (capture->names_known)
		return 0;
	/* LTTng's threads get their names from the events that they wrote. */
	for (guint i = 0; i < capture->traces->len; i++)
		if (((struct pp_trace *)capture->traces->pdata[i])->is_ust)
			kinds |= PP_EVENT_MASK(PP_EVENT_SYNC);
	for (guint i = 0; i < problems->len; i++)
		g_array_append_val(counts, ((struct pp_problem *)problems->pdata[i])->count);
	ret = pp_events_read(capture, kinds, take_nothing, NULL, err);
	/* The actual reading of the events will report the damage again. */
	g_ptr_array_set_size(capture->damage, (gint)n_damage);
	restore_problems(problems, counts);
	capture->names_known = ret == 0;
	return ret;
}
