/* SPDX-License-Identifier: MIT */
/* Places the windows by the density of the packets, and moves the streams from one to the next. */
#include "ctf/windowed.h"

/* More windows give a smaller error; fewer, less to pass over before each. */
#define MAX_WINDOWS 128
#define MIN_WINDOWS 16
/* Events of each stream that are read first: initializations of objects. */
#define FIRST_EVENTS 4096
/* Events before a window, for the state of the thread. */
#define STATE_EVENTS 32
/* Bytes that are passed over in the time in which one is read. */
#define PASS_BYTES 16

struct feed {
	struct pp_feed feed;
	struct pp_windowed *windowed;
	struct pp_direct_stream *stream;
	const GArray *packets; /* of struct pp_packet_place */
	unsigned n_first;
	unsigned window;  /* the one that it has reached, or reads towards */
	guint n_searched; /* packets that were searched for call sites */
};

struct pp_windowed {
	struct pp_windows *windows;
	uint64_t max_bytes;
	uint64_t search_bytes; /* that may still be searched for call sites */
	GPtrArray *packets;    /* of GArray *, by stream */
};

/* --- the density of events ------------------------------------------------------------------ */

/* From that time on, so many bytes more are written in a nanosecond. */
struct change {
	int64_t time_ns;
	double rate;
};

/* Sums at the times of the changes. */
struct density {
	GArray *changes; /* of struct change, by time; rates are those from then on */
	double *sum_bytes;
	double pass_bytes; /* to be passed over before a window, on average */
};

static gint by_time(gconstpointer a, gconstpointer b)
{
	const struct change *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static void add_packets(struct density *density, const GArray *packets, int64_t to_ns)
{
	double sum_bytes = 0;

	for (guint i = 0; i < packets->len; i++) {
		const struct pp_packet_place *packet =
		    &g_array_index(packets, struct pp_packet_place, i);
		int64_t end_ns = i + 1 < packets->len ? packet[1].begin_ns : to_ns;
		int64_t length_ns = MAX(end_ns - packet->begin_ns, 1);
		double rate = (double)packet->content_bytes / (double)length_ns;
		const struct change changes[] = {{packet->begin_ns, rate},
						 {packet->begin_ns + length_ns, -rate}};

		g_array_append_vals(density->changes, changes, G_N_ELEMENTS(changes));
		sum_bytes += (double)packet->content_bytes;
	}
	if (packets->len > 1)
		density->pass_bytes += sum_bytes / packets->len / 2;
}

static void density_init(struct density *density, const GPtrArray *streams, int64_t to_ns)
{
	double rate = 0;

	*density = (struct density){.changes = g_array_new(FALSE, FALSE, sizeof(struct change))};
	for (guint i = 0; i < streams->len; i++)
		add_packets(density, streams->pdata[i], to_ns);
	g_array_sort(density->changes, by_time);
	density->sum_bytes = g_new0(double, density->changes->len + 1);
	for (guint i = 0; i < density->changes->len; i++) {
		struct change *change = &g_array_index(density->changes, struct change, i);

		if (i)
			density->sum_bytes[i] =
			    density->sum_bytes[i - 1] +
			    rate * (double)(change->time_ns - change[-1].time_ns);
		rate += change->rate;
		change->rate = rate;
	}
}

static void density_done(struct density *density)
{
	g_array_unref(density->changes);
	g_free(density->sum_bytes);
}

/* The bytes up to that time. */
static double bytes_until(const struct density *density, int64_t time_ns)
{
	guint first = 0, end = density->changes->len;
	const struct change *change;

	while (first < end) {
		guint middle = first + (end - first) / 2;

		if (g_array_index(density->changes, struct change, middle).time_ns > time_ns)
			end = middle;
		else
			first = middle + 1;
	}
	if (!first)
		return 0;
	change = &g_array_index(density->changes, struct change, first - 1);
	return density->sum_bytes[first - 1] + change->rate * (double)(time_ns - change->time_ns);
}

static double bytes_in(const struct density *density, const struct pp_windows *windows)
{
	double sum_bytes = 0;

	for (unsigned i = 0; i < windows->n; i++)
		sum_bytes += bytes_until(density, windows->from_ns[i] + windows->len_ns) -
			     bytes_until(density, windows->from_ns[i]);
	return sum_bytes;
}

static unsigned choose_number(const struct density *density, uint64_t max_bytes)
{
	double pass_bytes = MAX(density->pass_bytes / PASS_BYTES, 1);

	/* A fourth is passed over at most. */
	return (unsigned)CLAMP((double)max_bytes / 4 / pass_bytes, MIN_WINDOWS, MAX_WINDOWS);
}

void pp_windowed_place(struct pp_windowed *windowed, int64_t from_ns, int64_t to_ns)
{
	struct density density;
	int64_t shorter_ns = 0, longer_ns;
	double max_bytes;
	unsigned n;

	if (windowed->windows->n)
		return;
	density_init(&density, windowed->packets, to_ns);
	n = choose_number(&density, windowed->max_bytes);
	max_bytes = (double)windowed->max_bytes - n * density.pass_bytes / PASS_BYTES;
	longer_ns = (to_ns - from_ns) / n;
	while (longer_ns - shorter_ns > 1000) {
		int64_t len_ns = shorter_ns + (longer_ns - shorter_ns) / 2;

		pp_windows_init(windowed->windows, n, from_ns, to_ns, len_ns);
		if (bytes_in(&density, windowed->windows) > max_bytes)
			longer_ns = len_ns;
		else
			shorter_ns = len_ns;
		pp_windows_done(windowed->windows);
	}
	pp_windows_init(windowed->windows, n, from_ns, to_ns, MAX(shorter_ns, 1000));
	density_done(&density);
}

/* --- from window to window ------------------------------------------------------------------ */

/* The last packet that begins by that time, from the current one on. */
static guint packet_at(const GArray *packets, guint current, int64_t time_ns)
{
	guint first = current, end = packets->len;

	while (first + 1 < end) {
		guint middle = first + (end - first) / 2;

		if (g_array_index(packets, struct pp_packet_place, middle).begin_ns > time_ns)
			end = middle;
		else
			first = middle;
	}
	return first;
}

static void pass_until(struct pp_direct_stream *stream, unsigned n_events)
{
	unsigned n_taken;
	int64_t time_ns;

	do
		(void)pp_direct_stream_packet(stream, &n_taken);
	while (n_taken < n_events && pp_direct_stream_pass(stream, &time_ns));
}

/* Returns the number of events of the packet before that time. */
static unsigned pass_to(struct pp_direct_stream *stream, int64_t until_ns)
{
	int64_t time_ns = INT64_MIN;
	unsigned n = 0;

	do
		(void)pp_direct_stream_packet(stream, &n);
	while (pp_direct_stream_pass(stream, &time_ns) && time_ns < until_ns);
	return n;
}

/* Goes on with the last events before that time. */
static void go_to(const struct feed *feed, int64_t time_ns)
{
	unsigned n_before, n_from;
	guint current = pp_direct_stream_packet(feed->stream, &n_from);
	guint at = packet_at(feed->packets, current, time_ns);
	bool is_gap = at != current;

	if (current >= feed->packets->len)
		return;
	if (is_gap) {
		n_from = 0;
		if (!pp_direct_stream_seek(feed->stream, feed->packets, at))
			return;
	}
	n_before = pass_to(feed->stream, time_ns);
	if (n_before > n_from + STATE_EVENTS) {
		n_from = n_before - STATE_EVENTS;
		is_gap = true;
	}
	if (pp_direct_stream_seek(feed->stream, feed->packets, at))
		pass_until(feed->stream, n_from);
	if (is_gap)
		pp_direct_stream_leave_gap(feed->stream);
}

/* Called when an event has been passed on.  Returns false after the last window. */
static bool leave_window(struct feed *feed)
{
	struct pp_windows *windows = feed->windowed->windows;
	int64_t now_ns = feed->feed.time_ns;

	if (feed->n_first < FIRST_EVENTS) {
		feed->n_first++;
		return true;
	}
	if (feed->window < windows->n && now_ns < windows->from_ns[feed->window] + windows->len_ns)
		return true;
	feed->window = pp_windows_after(windows, now_ns);
	if (feed->window == windows->n)
		return false;
	if (now_ns < windows->from_ns[feed->window])
		go_to(feed, windows->from_ns[feed->window]);
	return true;
}

/* --- feeds ---------------------------------------------------------------------------------- */

static bool advance(struct pp_feed *base)
{
	struct feed *feed = (struct feed *)base;

	/* A call whose begin was passed on ends in any case. */
	return (pp_direct_stream_is_in_call(feed->stream) || leave_window(feed)) &&
	       pp_direct_stream_next(feed->stream, &base->time_ns);
}

/* Searches the packets that were not read for the call site of the current event. */
static void find_site(struct feed *feed)
{
	unsigned n_taken;
	guint current = pp_direct_stream_packet(feed->stream, &n_taken);
	uint64_t bytes = 0;

	for (guint i = feed->n_searched; i < current && i < feed->packets->len; i++)
		bytes += g_array_index(feed->packets, struct pp_packet_place, i).content_bytes;
	if (!bytes || bytes > feed->windowed->search_bytes)
		return;
	feed->windowed->search_bytes -= bytes;
	pp_direct_stream_define_sites(feed->stream, feed->packets, feed->n_searched, current);
	feed->n_searched = current;
}

static void emit(struct pp_feed *base)
{
	struct feed *feed = (struct feed *)base;

	if (G_UNLIKELY(pp_direct_stream_lacks_site(feed->stream)))
		find_site(feed);
	pp_direct_stream_emit(feed->stream, base->time_ns);
}

struct pp_windowed *pp_windowed_new(struct pp_windows *windows, uint64_t max_bytes)
{
	struct pp_windowed *windowed = g_new0(struct pp_windowed, 1);

	windowed->windows = windows;
	windowed->max_bytes = max_bytes;
	windowed->search_bytes = max_bytes * PASS_BYTES;
	windowed->packets = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	return windowed;
}

void pp_windowed_free(struct pp_windowed *windowed)
{
	if (!windowed)
		return;
	g_ptr_array_unref(windowed->packets);
	g_free(windowed);
}

struct pp_feed *pp_windowed_add(struct pp_windowed *windowed, struct pp_direct_stream *stream)
{
	struct feed *feed = g_new0(struct feed, 1);

	feed->feed.advance = advance;
	feed->feed.emit = emit;
	feed->windowed = windowed;
	feed->stream = stream;
	feed->packets = pp_direct_stream_packets(stream);
	g_ptr_array_add(windowed->packets, (void *)feed->packets);
	return &feed->feed;
}
