/* SPDX-License-Identifier: MIT */
/*
 * Reads the call histories of all threads between two other events, on all CPUs.  The first record
 * of each thread is delivered in time order.
 */
#include "calls/parallel_read.h"

#include "core/cache_lines.h"
#include "calls/history.h"
#include "calls/pool.h"
#include "calls/survey.h"

/* Reading fewer records is cheaper than waking other threads. */
#define FEW_RECORDS 20000

struct feed {
	_Alignas(PP_APART_BYTES) struct pp_feed feed;
	struct pp_calls_stream *stream;
	struct pp_decoder *decoder;
	const struct pp_thread *thread; /* the last thread whose first record was delivered */
	struct pp_event event;
	int64_t last_ns; /* time of the last record delivered */
};

struct pp_calls_apart {
	struct pp_sweep *others, calls;
	GPtrArray *streams;
	struct feed *feeds;   /* one per stream */
	GArray *firsts_ns;    /* of int64_t, ascending: times of the threads' first records */
	struct pp_feed first; /* stops the sweep before each first record */
	guint n_first;
	/* Used while several threads read: */
	GPtrArray *busy; /* of struct feed * */
	int64_t until_ns;
	gint next;
};

/* --- feeds ---------------------------------------------------------------------------------- */

static bool advance(struct pp_feed *base)
{
	struct feed *feed = (struct feed *)base;

	if (!pp_calls_stream_next(feed->stream, &feed->event))
		return false;
	base->time_ns = feed->event.time_ns;
	return true;
}

static void emit(struct pp_feed *base)
{
	struct feed *feed = (struct feed *)base;

	feed->thread = feed->event.thread;
	feed->last_ns = base->time_ns;
	pp_decoder_emit(feed->decoder, &feed->event);
}

/* --- reading in parallel -------------------------------------------------------------------- */

/* Reads until that time, or to another thread's first record. */
static void read_feed(struct feed *feed, int64_t until_ns)
{
	const struct pp_decoder *decoder = feed->decoder;
	bool has_event = true;

	while (has_event && feed->feed.time_ns <= until_ns && feed->event.thread == feed->thread) {
		feed->last_ns = feed->feed.time_ns;
		if (decoder->kinds & PP_EVENT_MASK(feed->event.kind))
			decoder->take(decoder->data, &feed->event);
		has_event = advance(&feed->feed);
	}
	if (!has_event)
		feed->event.thread = NULL;
}

static void *work(void *data)
{
	struct pp_calls_apart *apart = data;

	for (;;) {
		guint at = (guint)g_atomic_int_add(&apart->next, 1);

		if (at >= apart->busy->len)
			return NULL;
		read_feed(apart->busy->pdata[at], apart->until_ns);
	}
}

/* Records the times that the decoder would have recorded. */
static void note_times(const struct pp_calls_apart *apart)
{
	struct pp_decoder *decoder = &apart->others->decoder;

	for (guint i = 0; i < apart->busy->len; i++) {
		const struct feed *feed = apart->busy->pdata[i];

		decoder->last_ns = MAX(decoder->last_ns, feed->last_ns);
		pp_model_widen(decoder->capture->model, feed->last_ns);
	}
}

/* Advances all feeds to until_ns, with one thread per CPU. */
static void read_at_once(struct pp_calls_apart *apart, int64_t until_ns)
{
	struct pp_sweep *calls = &apart->calls;
	unsigned n = 0;

	apart->until_ns = until_ns;
	g_ptr_array_set_size(apart->busy, 0);
	for (unsigned i = 0; i < calls->n_heap; i++)
		if (calls->heap[i]->time_ns <= until_ns)
			g_ptr_array_add(apart->busy, calls->heap[i]);
	apart->next = 0;
	pp_calls_pool_at_once(pp_calls_pool_workers(apart->busy->len), work, apart);
	note_times(apart);
	for (unsigned i = 0; i < calls->n_heap; i++)
		if (((struct feed *)calls->heap[i])->event.thread)
			calls->heap[n++] = calls->heap[i];
	calls->n_heap = n;
	pp_sweep_start(calls);
}

/* --- between other events ------------------------------------------------------------------- */

static void read_until(void *data, int64_t until_ns)
{
	struct pp_calls_apart *apart = data;

	while (pp_sweep_until(&apart->calls, until_ns, FEW_RECORDS))
		read_at_once(apart, until_ns);
}

/* As the last event of the nanosecond before, it precedes all events at the first record's time. */
static bool advance_first(struct pp_feed *first)
{
	struct pp_calls_apart *apart =
	    (struct pp_calls_apart *)((char *)first - offsetof(struct pp_calls_apart, first));

	if (apart->n_first == apart->firsts_ns->len)
		return false;
	first->time_ns = g_array_index(apart->firsts_ns, int64_t, apart->n_first++) - 1;
	return true;
}

static void emit_first(struct pp_feed *first)
{
	struct pp_calls_apart *apart =
	    (struct pp_calls_apart *)((char *)first - offsetof(struct pp_calls_apart, first));

	pp_sweep_until(&apart->calls, first->time_ns + 1, UINT64_MAX);
}

static gint by_time(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The times of first records; NULL if a thread is in two streams. */
static GArray *find_firsts(struct pp_capture *capture)
{
	struct pp_calls_survey *survey = pp_calls_survey_new(capture, false);
	GArray *firsts_ns = survey->is_apart ? g_array_new(FALSE, FALSE, sizeof(int64_t)) : NULL;

	for (guint i = 0; firsts_ns && i < survey->n_threads; i++)
		if (pp_calls_survey_has_history(survey, i))
			g_array_append_val(firsts_ns, survey->firsts_ns[i]);
	if (firsts_ns)
		g_array_sort(firsts_ns, by_time);
	pp_calls_survey_free(survey);
	return firsts_ns;
}

static void add_feeds(struct pp_calls_apart *apart)
{
	struct pp_capture *capture = apart->others->decoder.capture;

	apart->streams = pp_calls_streams_new(capture);
	apart->feeds = pp_apart_new0(apart->streams->len, sizeof(struct feed));
	for (guint i = 0; i < apart->streams->len; i++) {
		struct feed *feed = &apart->feeds[i];

		feed->feed = (struct pp_feed){.order = i, .advance = advance, .emit = emit};
		feed->stream = apart->streams->pdata[i];
		feed->decoder = &apart->others->decoder;
		pp_calls_stream_share(feed->stream, capture->model->lock);
		pp_sweep_add(&apart->calls, &feed->feed);
	}
	pp_sweep_start(&apart->calls);
}

struct pp_calls_apart *pp_calls_apart_new(struct pp_sweep *sweep)
{
	GArray *firsts_ns = find_firsts(sweep->decoder.capture);
	struct pp_calls_apart *apart;

	if (!firsts_ns)
		return NULL;
	apart = g_new0(struct pp_calls_apart, 1);
	apart->others = sweep;
	apart->firsts_ns = firsts_ns;
	apart->busy = g_ptr_array_new();
	apart->first =
	    (struct pp_feed){.order = UINT_MAX, .advance = advance_first, .emit = emit_first};
	add_feeds(apart);
	pp_sweep_add(sweep, &apart->first);
	sweep->before = read_until;
	sweep->before_data = apart;
	return apart;
}

const GPtrArray *pp_calls_apart_streams(const struct pp_calls_apart *apart)
{
	return apart->streams;
}

void pp_calls_apart_finish(struct pp_calls_apart *apart)
{
	read_until(apart, INT64_MAX);
	for (guint i = 0; i < apart->streams->len; i++)
		pp_calls_stream_tell(apart->streams->pdata[i]);
}

void pp_calls_apart_free(struct pp_calls_apart *apart)
{
	if (!apart)
		return;
	g_free(apart->calls.heap);
	g_aligned_free(apart->feeds);
	g_ptr_array_unref(apart->streams);
	g_array_unref(apart->firsts_ns);
	g_ptr_array_unref(apart->busy);
	g_free(apart);
}
