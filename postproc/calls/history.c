/* SPDX-License-Identifier: MIT */
/*
 * Reads streams of packets of words (gmon-mt/history.h).  It uses pread() with large blocks, since
 * the files may be written or truncated meanwhile.  No length is used before it is checked against
 * the file.
 */
#include "calls/history.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/cache_lines.h"
#include "gmon-mt/history.h"
#include "gmon-mt/packet.h"
#include "ctf/stream_file.h"

#define BUFFER_WORDS 8192u /* small, since 1,000 streams may be open */
#define WORD_BYTES   8u
#define ARC_WORDS    3u
#define TIME_WORDS   2u
#define SPARE_ARCS   65536u /* for arcs whose definitions may be in missing files */

struct arc {
	uint64_t from, self;
};

struct damage {
	const char *path;
	char *what;
	uint64_t n; /* number of consecutive times */
};

struct pp_calls_stream {
	struct pp_capture *capture;
	struct pp_process *process;
	GPtrArray *paths; /* paths of its files, in order */
	guint next_path;
	uint64_t bytes; /* of all its files */
	/* protects data shared with other streams that are read in parallel; NULL: none */
	GMutex *lock;
	GPtrArray *damage; /* with a lock: of struct damage *, not yet added to the capture */

	struct pp_stream_file file;
	uint64_t packet_end;	/* offset of the next packet in the file */
	uint64_t at, words_end; /* the current packet: position and end */

	struct pp_thread *thread; /* of the current packet; NULL: skip it */
	uint64_t time_ns;
	GArray *arcs;	   /* of struct arc, by number */
	uint64_t max_arcs; /* upper limit, from the size of its files */
	unsigned n_undefined;

	uint64_t *buffer;
	unsigned n_buffered, next; /* in words */
};

static const char *path_of(const struct pp_calls_stream *stream)
{
	return stream->paths->pdata[stream->next_path - 1];
}

/* --- shared data ---------------------------------------------------------------------------- */

static void damage_free(void *data)
{
	struct damage *damage = data;

	g_free(damage->what);
	g_free(damage);
}

G_GNUC_PRINTF(2, 3)
static void add_damage(struct pp_calls_stream *stream, const char *format, ...)
{
	GPtrArray *all = stream->damage;
	struct damage *last = all->len ? all->pdata[all->len - 1] : NULL;
	g_autofree char *what = NULL;
	va_list args;

	va_start(args, format);
	what = g_strdup_vprintf(format, args);
	va_end(args);
	if (last && last->path == path_of(stream) && g_str_equal(last->what, what)) {
		last->n++;
	} else {
		last = g_new(struct damage, 1);
		*last = (struct damage){path_of(stream), g_steal_pointer(&what), 1};
		g_ptr_array_add(all, last);
	}
	if (!stream->lock)
		pp_calls_stream_tell(stream);
}

void pp_calls_stream_tell(struct pp_calls_stream *stream)
{
	for (guint i = 0; i < stream->damage->len; i++) {
		const struct damage *damage = stream->damage->pdata[i];

		for (uint64_t n = 0; n < damage->n; n++)
			pp_capture_add_damage(stream->capture, damage->path, "%s", damage->what);
	}
	g_ptr_array_set_size(stream->damage, 0);
}

void pp_calls_stream_share(struct pp_calls_stream *stream, GMutex *lock)
{
	stream->lock = lock;
}

uint64_t pp_calls_stream_bytes(const struct pp_calls_stream *stream)
{
	return stream->bytes;
}

/* Resolves the arc's addresses by the load history. */
static struct arc place(struct pp_calls_stream *stream, uint64_t from, uint64_t self)
{
	int64_t now_ns = (int64_t)stream->time_ns;
	struct arc arc;

	if (stream->lock)
		g_mutex_lock(stream->lock);
	arc.from = pp_places_code(stream->process, from, now_ns);
	arc.self = pp_places_code(stream->process, self, now_ns);
	if (stream->lock)
		g_mutex_unlock(stream->lock);
	return arc;
}

/* --- files and packets ---------------------------------------------------------------------- */

static bool open_file(struct pp_calls_stream *stream)
{
	while (stream->next_path < stream->paths->len) {
		const char *path = stream->paths->pdata[stream->next_path++];

		if (pp_stream_file_open(&stream->file, path)) {
			stream->packet_end = 0;
			return true;
		}
		add_damage(stream, "cannot be read; skipped");
	}
	return false;
}

/* The defect of the packet as text; NULL if it is valid. */
static const char *packet_fault(const struct pp_calls_stream *stream,
				const struct gm_packet *packet)
{
	uint64_t rest_bits = (stream->file.bytes - stream->packet_end) * 8;

	if (packet->magic != GM_PACKET_MAGIC || packet->stream_id != 0)
		return "missing packet header";
	if (packet->content_bits % 64 != sizeof(*packet) * 8 % 64 ||
	    packet->content_bits < sizeof(*packet) * 8 ||
	    packet->content_bits > packet->packet_bits || packet->packet_bits % 64 != 0)
		return "packet with an invalid size";
	if (packet->content_bits > rest_bits)
		return "cut short within a packet";
	if (packet->timestamp_begin > INT64_MAX)
		return "packet with an invalid time";
	return NULL;
}

static void find_thread(struct pp_calls_stream *stream, const struct gm_packet *packet)
{
	stream->thread = pp_process_thread(stream->process, packet->index);
	if (stream->thread && stream->thread->tid == (packet->tid & GM_PACKET_TID_MASK))
		return;
	stream->thread = NULL;
	if (packet->content_bits > sizeof(*packet) * 8)
		add_damage(stream, "calls of a thread that is not in the thread table; skipped");
}

/* True for zeros after the last packet: space reserved by a program that was killed. */
static bool is_room(const struct pp_calls_stream *stream, const struct gm_packet *packet, ssize_t n)
{
	static const struct gm_packet nothing;

	return n == 0 ||
	       (n > 0 && memcmp(packet, &nothing, (size_t)n) == 0 &&
		(n == sizeof(*packet) || stream->packet_end + (uint64_t)n == stream->file.bytes));
}

static int64_t until_ns(const struct pp_calls_stream *stream)
{
	return stream->capture->model->until_ns;
}

/* Ends the stream at the instant up to which a live capture is read. */
static void leave_rest(struct pp_calls_stream *stream)
{
	pp_stream_file_close(&stream->file);
	pp_calls_stream_skip(stream);
	stream->next_path = stream->paths->len;
}

static bool begin_packet(struct pp_calls_stream *stream)
{
	for (;;) {
		struct gm_packet packet = {0};
		const char *fault;
		ssize_t n;

		if (!stream->file.path && !open_file(stream))
			return false;
		if (stream->process->is_live)
			pp_stream_file_look(&stream->file);
		/* Not beyond the known size: the program may go on writing. */
		n = stream->packet_end >= stream->file.bytes
			? 0
			: pp_stream_file_read(&stream->file, &packet, sizeof(packet),
					      stream->packet_end);
		if (is_room(stream, &packet, n)) {
			pp_stream_file_close(&stream->file);
			continue;
		}
		fault = n == (ssize_t)sizeof(packet) ? packet_fault(stream, &packet)
			: n < 0			     ? "cannot be read further"
						     : "cut short within a packet";
		if (!fault && (int64_t)packet.timestamp_begin > until_ns(stream)) {
			leave_rest(stream);
			return false;
		}
		if (fault) {
			if (!stream->process->is_live) /* else it is being written */
				add_damage(stream, "%s; the report covers the data before it",
					   fault);
			pp_stream_file_close(&stream->file);
			continue;
		}
		stream->at = stream->packet_end + sizeof(packet);
		stream->words_end = stream->packet_end + packet.content_bits / 8;
		stream->packet_end += packet.packet_bits / 8;
		if (stream->packet_end > stream->file.bytes)
			stream->packet_end = stream->file.bytes;
		if (packet.timestamp_begin > stream->time_ns)
			stream->time_ns = packet.timestamp_begin;
		find_thread(stream, &packet);
		return true;
	}
}

/* --- words ------------------------------------------------------------------------------------ */

/* Reads at least one more word of the packet; false if there is none. */
static bool fill(struct pp_calls_stream *stream)
{
	unsigned left = stream->n_buffered - stream->next;
	uint64_t want = stream->words_end - stream->at;
	ssize_t n;

	if (!stream->buffer)
		stream->buffer = g_new(uint64_t, BUFFER_WORDS);
	memmove(stream->buffer, stream->buffer + stream->next, left * WORD_BYTES);
	stream->n_buffered = left;
	stream->next = 0;
	if (want > (BUFFER_WORDS - left) * WORD_BYTES)
		want = (BUFFER_WORDS - left) * WORD_BYTES;
	n = want ? pp_stream_file_read(&stream->file, stream->buffer + left, want, stream->at) : 0;
	if (n < (ssize_t)WORD_BYTES) {
		if (want)
			add_damage(stream, "%s; the report covers the data read so far",
				   n < 0 ? "cannot be read further"
					 : "truncated while it was read");
		stream->words_end = stream->at;
		return false;
	}
	stream->at += (uint64_t)n / WORD_BYTES * WORD_BYTES;
	stream->n_buffered += (unsigned)((uint64_t)n / WORD_BYTES);
	return true;
}

/* True if n words are in the buffer, starting at `next`. */
static bool have(struct pp_calls_stream *stream, unsigned n)
{
	while (stream->n_buffered - stream->next < n)
		if (!fill(stream))
			return false;
	return true;
}

void pp_calls_stream_skip(struct pp_calls_stream *stream)
{
	stream->next = stream->n_buffered = 0;
	stream->at = stream->words_end;
}

static void drop_packet(struct pp_calls_stream *stream, const char *why)
{
	add_damage(stream, "%s; the rest of the packet is skipped", why);
	pp_calls_stream_skip(stream);
}

static void extend_time(struct pp_calls_stream *stream, uint64_t word)
{
	uint32_t low = (uint32_t)(word >> GM_HISTORY_TIME_SHIFT);

	stream->time_ns += (uint32_t)(low - (uint32_t)stream->time_ns);
}

static bool take_time(struct pp_calls_stream *stream)
{
	const uint64_t *words = stream->buffer + stream->next;
	uint64_t time_ns;

	if ((words[0] >> 8 & 0xff) != GM_HISTORY_TIME)
		return false;
	time_ns = words[0] >> 16 | words[1] << 48;
	if (time_ns < stream->time_ns || time_ns > INT64_MAX)
		return false;
	stream->time_ns = time_ns;
	stream->next += TIME_WORDS;
	return true;
}

static bool take_arc(struct pp_calls_stream *stream)
{
	const uint64_t *words = stream->buffer + stream->next;
	uint64_t number = words[0] >> GM_HISTORY_ARC_SHIFT;

	/* Arcs are numbered consecutively. */
	if (number > stream->max_arcs)
		return false;
	extend_time(stream, words[0]);
	if (number >= stream->arcs->len)
		g_array_set_size(stream->arcs, (guint)number + 1);
	/* Resolved once: the arc is defined again after its module is replaced. */
	g_array_index(stream->arcs, struct arc, number) = place(stream, words[1], words[2]);
	stream->next += ARC_WORDS;
	return true;
}

static void set_call(struct pp_calls_stream *stream, uint64_t number, struct pp_event *ret)
{
	struct arc arc = {0, 0};

	if (number < stream->arcs->len)
		arc = g_array_index(stream->arcs, struct arc, number);
	if (!arc.self && !stream->n_undefined++)
		add_damage(stream, "calls of functions without a definition");
	ret->kind = PP_EVENT_CALL;
	ret->call.from = arc.from;
	ret->call.self = arc.self;
}

/* Processes a definition or an invalid word.  Returns false at the end of the packet. */
static bool take_other(struct pp_calls_stream *stream, unsigned id)
{
	unsigned n = id == GM_HISTORY_ARC ? ARC_WORDS : TIME_WORDS;

	if (id != GM_HISTORY_ARC && id != GM_HISTORY_EXTENDED) {
		drop_packet(stream, "record of an unknown kind");
		return false;
	}
	if (!have(stream, n)) {
		drop_packet(stream, "truncated record");
		return false;
	}
	if (id == GM_HISTORY_ARC && !take_arc(stream)) {
		drop_packet(stream, "more functions than the files can define");
		return false;
	}
	if (id != GM_HISTORY_ARC && !take_time(stream)) {
		drop_packet(stream, "invalid time");
		return false;
	}
	return true;
}

bool pp_calls_stream_next(struct pp_calls_stream *stream, struct pp_event *ret)
{
	for (;;) {
		uint64_t word;
		unsigned id;

		if (stream->next == stream->n_buffered && !fill(stream)) {
			if (!begin_packet(stream)) {
				/* Freed early, since 1,000 streams may be open. */
				g_clear_pointer(&stream->buffer, g_free);
				return false;
			}
			continue;
		}
		word = stream->buffer[stream->next];
		id = (uint8_t)word;
		if (id != GM_HISTORY_CALL && id != GM_HISTORY_RETURN) {
			take_other(stream, id);
			continue;
		}
		stream->next++;
		extend_time(stream, word);
		if (G_UNLIKELY((int64_t)stream->time_ns > until_ns(stream))) {
			leave_rest(stream);
			continue;
		}
		if (!stream->thread)
			continue;
		ret->cpu = PP_CPU_UNKNOWN;
		ret->time_ns = (int64_t)stream->time_ns;
		ret->thread = stream->thread;
		if (id == GM_HISTORY_CALL) {
			set_call(stream, word >> GM_HISTORY_ARC_SHIFT, ret);
		} else {
			ret->kind = PP_EVENT_RETURN;
			ret->call.from = 0;
			ret->call.self = word >> GM_HISTORY_ARC_SHIFT;
		}
		return true;
	}
}

/* --- finding streams ------------------------------------------------------------------------ */

static void stream_free(void *data)
{
	struct pp_calls_stream *stream = data;

	pp_stream_file_close(&stream->file);
	g_ptr_array_unref(stream->damage);
	g_ptr_array_unref(stream->paths);
	g_array_unref(stream->arcs);
	g_free(stream->buffer);
	g_aligned_free(stream);
}

/* Takes ownership of the paths. */
static struct pp_calls_stream *stream_new(struct pp_capture *capture, struct pp_process *process,
					  GPtrArray *paths)
{
	struct pp_calls_stream *stream = pp_apart_new0(1, sizeof(*stream));

	stream->capture = capture;
	stream->process = process;
	stream->paths = paths;
	stream->bytes = pp_stream_files_bytes(paths);
	stream->max_arcs = SPARE_ARCS + stream->bytes / (ARC_WORDS * WORD_BYTES);
	stream->arcs = g_array_new(FALSE, TRUE, sizeof(struct arc));
	stream->damage = g_ptr_array_new_with_free_func(damage_free);
	return stream;
}

static void add_streams(GPtrArray *streams, struct pp_capture *capture,
			const struct pp_trace *trace)
{
	g_autoptr(GPtrArray) all = pp_stream_paths(trace->dir);

	for (guint i = 0; i < all->len; i++)
		g_ptr_array_add(
		    streams, stream_new(capture, trace->process, g_ptr_array_ref(all->pdata[i])));
}

GPtrArray *pp_calls_streams_new(struct pp_capture *capture)
{
	GPtrArray *streams = g_ptr_array_new_with_free_func(stream_free);

	for (guint i = 0; i < capture->histories->len; i++)
		add_streams(streams, capture, capture->histories->pdata[i]);
	return streams;
}
