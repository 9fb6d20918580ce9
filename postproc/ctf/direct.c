/* SPDX-License-Identifier: MIT */
/*
 * Reads with pread in blocks: the files may be in use, and may shrink.  No length is used before it
 * is known to lie within the packet, and no packet size before it is known to lie within the file.
 */
#include "ctf/direct.h"

#include <string.h>

#include "ctf/ahead.h"
#include "ctf/unaligned.h"
#include "ctf/packet_head.h"
#include "ctf/payload.h"
#include "ctf/stream_file.h"

#define BUFFER_BYTES	32768u
#define EVENT_MAX_BYTES 8192u /* the buffer holds at least that much, or the rest of the packet */
#define ID_EXTENDED	255

#define UNREADABLE "cannot be read any more; the report covers only what was read"
#define SHORTER	   "has become shorter; the report covers only what was read"

struct pp_direct_trace {
	struct pp_decoder *decoder;
	const struct pp_trace *trace;
	struct pp_layout *layout;
	GPtrArray *streams;
};

struct pp_direct_stream {
	struct pp_direct_trace *direct;
	struct pp_stream stream;
	GPtrArray *paths; /* of the stream's files, in order */
	guint next_path;

	struct pp_stream_file file;
	uint64_t packet_end;	  /* start of the next packet of the file */
	uint64_t at, content_end; /* in the current packet: next byte to read, and the end */
	unsigned n_packets;	  /* of the file so far */
	guint n_entered;	  /* packets of the stream so far */
	unsigned n_taken;	  /* events of the packet so far */
	uint64_t discarded;	  /* the count in the last packet */
	uint64_t time_ns;	  /* base for extending shortened time stamps */
	uint64_t end_ns;	  /* end of the last packet: the CPU's state is known until then */
	bool is_over;		  /* no more events; time_ns is that of the end, if it is
				   * reported */
	bool is_part;		  /* the packet is cut short, which was reported */

	uint8_t *buffer;
	unsigned n_buffered, next;

	const struct pp_layout_class *class; /* of the current event */
	struct pp_record record;
};

/* --- files ------------------------------------------------------------------------------------ */

static const char *path_of(const struct pp_direct_stream *stream)
{
	return stream->paths->pdata[stream->next_path - 1];
}

static void add_damage(struct pp_direct_stream *stream, const char *what)
{
	pp_capture_add_damage(stream->direct->decoder->capture, path_of(stream), "%s", what);
}

static void close_file(struct pp_direct_stream *stream)
{
	pp_stream_file_close(&stream->file);
	stream->next = stream->n_buffered = 0;
	stream->at = stream->content_end = 0;
}

static bool is_of_ring(const struct pp_direct_stream *stream)
{
	const struct pp_capture *capture = stream->direct->decoder->capture;

	return capture->has_ring && pp_model_is_live(capture->model);
}

static bool open_file(struct pp_direct_stream *stream)
{
	while (stream->next_path < stream->paths->len) {
		const char *path = stream->paths->pdata[stream->next_path++];

		if (pp_stream_file_open(&stream->file, path)) {
			if (!stream->buffer)
				stream->buffer = g_malloc(BUFFER_BYTES);
			stream->packet_end = 0;
			stream->n_packets = 0;
			return true;
		}
		/* The program has removed it meanwhile. */
		if (is_of_ring(stream) && !g_file_test(path, G_FILE_TEST_EXISTS)) {
			stream->stream.lost++;
			continue;
		}
		/* Files that are not regular were reported when the capture was opened. */
		if (!pp_capture_is_damaged(stream->direct->decoder->capture, path))
			add_damage(stream, "cannot be read: left out");
	}
	return false;
}

/* Zeros up to the end of the file are space that a killed program had reserved. */
static bool is_room(const struct pp_direct_stream *stream)
{
	uint64_t at = stream->packet_end;

	for (;;) {
		ssize_t n = pp_stream_file_read(&stream->file, stream->buffer, BUFFER_BYTES, at);

		if (n <= 0)
			return true;
		for (ssize_t i = 0; i < n; i++)
			if (stream->buffer[i])
				return false;
		at += (uint64_t)n;
	}
}

/* --- packets ---------------------------------------------------------------------------------- */

/* Notes that the next packet is missing or incomplete. */
static void add_cut(struct pp_direct_stream *stream)
{
	pp_capture_add_damage(stream->direct->decoder->capture, path_of(stream),
			      "damaged or cut short in packet %u; the report covers only the "
			      "packets before",
			      stream->n_packets + 1);
}

/* Notes losses between the previous packet and this one. */
static void note_losses(struct pp_direct_stream *stream, const uint8_t *head)
{
	uint64_t discarded = pp_packet_value(head, stream->direct->layout->discarded, 0);

	if (discarded > stream->discarded)
		pp_stream_lose(&stream->stream, discarded - stream->discarded);
	stream->discarded = discarded;
}

/* A process that still runs, or the collector, may be writing to the file. */
static bool is_being_written(const struct pp_direct_stream *stream)
{
	const struct pp_trace *trace = stream->direct->trace;

	return trace->process ? trace->process->is_live
			      : pp_model_is_live(stream->direct->decoder->capture->model);
}

static int64_t until_ns(const struct pp_direct_stream *stream)
{
	return stream->direct->decoder->capture->model->until_ns;
}

/* From this time on, the streams of all CPUs have their events. */
static int64_t since_ns(const struct pp_direct_stream *stream)
{
	return stream->direct->decoder->capture->model->since_ns;
}

/* Ends the stream at the instant up to which a live capture is read. */
static void leave_rest(struct pp_direct_stream *stream)
{
	close_file(stream);
	stream->next_path = stream->paths->len;
}

static void enter_packet(struct pp_direct_stream *stream, const uint8_t *head)
{
	const struct pp_layout *layout = stream->direct->layout;
	uint64_t content_bytes = pp_packet_value(head, layout->content_size, 0) / 8;
	uint64_t packet_bytes = pp_packet_value(head, layout->packet_size, 0) / 8;
	uint64_t rest_bytes = stream->file.bytes - stream->packet_end;

	stream->is_part = packet_bytes > rest_bytes;
	if (stream->is_part && !is_being_written(stream))
		add_cut(stream);
	stream->at = stream->packet_end + layout->head_bytes;
	stream->content_end = stream->packet_end + MIN(content_bytes, rest_bytes);
	stream->packet_end += MIN(packet_bytes, rest_bytes);
	stream->next = stream->n_buffered = 0;
	stream->n_packets++;
	stream->n_entered++;
	stream->n_taken = 0;
	stream->time_ns = pp_packet_value(head, layout->timestamp_begin, 0);
	if (!stream->is_part)
		stream->end_ns = pp_packet_value(head, layout->timestamp_end, 0);
	note_losses(stream, head);
	pp_stream_packet(&stream->stream, pp_packet_value(head, layout->cpu, UINT64_MAX),
			 pp_packet_value(head, layout->tid, 0),
			 pp_packet_value(head, layout->index, UINT64_MAX));
}

static bool begin_packet(struct pp_direct_stream *stream)
{
	const struct pp_layout *layout = stream->direct->layout;

	for (;;) {
		uint8_t head[PP_PACKET_HEAD_BYTES];
		ssize_t n;

		if (!stream->file.path && !open_file(stream))
			return false;
		if (is_being_written(stream))
			pp_stream_file_look(&stream->file);
		/* A file may grow as fast as it is read; it is read as it was when it was opened.
		 */
		n = stream->packet_end >= stream->file.bytes
			? 0
			: pp_stream_file_read(&stream->file, head, layout->head_bytes,
					      stream->packet_end);
		if (n < 0) {
			add_damage(stream, UNREADABLE);
			close_file(stream);
			continue;
		}
		if (n != (ssize_t)layout->head_bytes || !pp_packet_makes_sense(layout, head)) {
			if (!is_being_written(stream) && !is_room(stream))
				add_cut(stream);
			close_file(stream);
			continue;
		}
		if (!pp_packet_is_of_trace(layout, head)) {
			add_damage(stream, "damaged: left out");
			close_file(stream);
			continue;
		}
		if ((int64_t)pp_packet_value(head, layout->timestamp_begin, 0) > until_ns(stream)) {
			leave_rest(stream);
			return false;
		}
		enter_packet(stream, head);
		return true;
	}
}

/* --- the buffer ------------------------------------------------------------------------------- */

/* Ensures that the next event is completely in the buffer, up to EVENT_MAX_BYTES. */
static void fill(struct pp_direct_stream *stream)
{
	unsigned left = stream->n_buffered - stream->next;
	uint64_t want = stream->content_end - stream->at;
	ssize_t n;

	memmove(stream->buffer, stream->buffer + stream->next, left);
	stream->n_buffered = left;
	stream->next = 0;
	n = pp_stream_file_read(&stream->file, stream->buffer + left,
				MIN(want, BUFFER_BYTES - left), stream->at);
	if (n <= 0) {
		if (!stream->is_part)
			add_damage(stream, n < 0 ? UNREADABLE : SHORTER);
		stream->is_part = true;
		stream->content_end = stream->packet_end = stream->at;
		return;
	}
	stream->at += (uint64_t)n;
	stream->n_buffered += (unsigned)n;
}

/* False at the end of the packet. */
static bool has_event(struct pp_direct_stream *stream)
{
	if (stream->n_buffered - stream->next < EVENT_MAX_BYTES && stream->at < stream->content_end)
		fill(stream);
	return stream->next < stream->n_buffered;
}

/* --- events ----------------------------------------------------------------------------------- */

/* Returns the end of the header, or NULL. */
static const uint8_t *take_header(struct pp_direct_stream *stream, const uint8_t *at,
				  const uint8_t *end, unsigned *ret_id)
{
	unsigned id_bytes = stream->direct->layout->extended_id_bytes;
	size_t have = (size_t)(end - at);

	if (have < 1 + sizeof(uint32_t))
		return NULL;
	*ret_id = *at++;
	if (*ret_id != ID_EXTENDED) {
		stream->time_ns += (uint32_t)(pp_load32(at) - (uint32_t)stream->time_ns);
		return at + sizeof(uint32_t);
	}
	if (have < 1 + id_bytes + sizeof(uint64_t))
		return NULL;
	*ret_id = (unsigned)pp_load(at, id_bytes);
	stream->time_ns = pp_load64(at + id_bytes);
	return at + id_bytes + sizeof(uint64_t);
}

static const struct pp_layout_class *class_of(const struct pp_direct_stream *stream, unsigned id)
{
	const GPtrArray *classes = stream->direct->layout->classes;

	return id < classes->len ? classes->pdata[id] : NULL;
}

/* Reads the header of the packet's next event; NULL: it cannot be read. */
static const uint8_t *take_class(struct pp_direct_stream *stream, const uint8_t *end)
{
	unsigned id = 0;
	const uint8_t *at = take_header(stream, stream->buffer + stream->next, end, &id);

	stream->class = at ? class_of(stream, id) : NULL;
	return stream->class ? at : NULL;
}

/* Reads the packet's next event into the record; false: it cannot be read. */
static bool take_event(struct pp_direct_stream *stream)
{
	const uint8_t *end = stream->buffer + stream->n_buffered;
	const uint8_t *at = take_class(stream, end);
	struct pp_record *record = &stream->record;

	if (!at)
		return false;
	record->class = &stream->class->class;
	record->tid = PP_TID_UNKNOWN;
	memset(record->values, 0, sizeof(record->values));
	memset(record->texts, 0, sizeof(record->texts));
	record->lines = NULL;
	record->n_lines = 0;
	at = pp_payload_take(record, stream->class, at, end);
	if (!at)
		return false;
	stream->next = (unsigned)(at - stream->buffer);
	stream->n_taken++;
	return true;
}

/* Abandons the stream: the bytes that follow cannot be interpreted. */
static void give_up(struct pp_direct_stream *stream)
{
	/* A stream already reported as cut short may end within an event. */
	if (!stream->is_part)
		pp_capture_add_damage(stream->direct->decoder->capture, path_of(stream),
				      "cannot be read beyond its event %" G_GUINT64_FORMAT
				      "; the report covers only the events before",
				      stream->stream.n_events);
	close_file(stream);
	if (!stream->is_part)
		stream->next_path = stream->paths->len;
}

/* Makes the end of a CPU's stream an event: the CPU's state is unknown from then on. */
static bool end_stream(struct pp_direct_stream *stream, int64_t *ret_time_ns)
{
	if (stream->is_over)
		return false;
	stream->is_over = true;
	g_clear_pointer(&stream->buffer, g_free); /* thousands of other streams may be open */
	pp_stream_end(&stream->stream);
	*ret_time_ns = stream->stream.last_ns;
	if (pp_model_is_near(stream->direct->decoder->capture->model,
			     (int64_t)MIN(stream->end_ns, INT64_MAX)))
		*ret_time_ns = MAX((int64_t)stream->end_ns, *ret_time_ns);
	/* The collector has written all events up to here, even if this CPU had none. */
	*ret_time_ns = MAX(*ret_time_ns, stream->direct->decoder->capture->kernel_complete_ns);
	return pp_stream_is_of_cpu(&stream->stream) && *ret_time_ns < until_ns(stream);
}

uint64_t pp_direct_stream_bytes(const struct pp_direct_stream *stream)
{
	return pp_stream_files_bytes(stream->paths);
}

bool pp_direct_stream_next(struct pp_direct_stream *stream, int64_t *ret_time_ns)
{
	if (pp_stream_look_again(&stream->stream, ret_time_ns))
		return true;
	for (;;) {
		if (!has_event(stream)) {
			if (begin_packet(stream))
				continue;
			return end_stream(stream, ret_time_ns);
		}
		if (!take_event(stream)) {
			give_up(stream);
			continue;
		}
		*ret_time_ns = (int64_t)MIN(stream->time_ns, INT64_MAX);
		if (G_UNLIKELY(*ret_time_ns > until_ns(stream))) {
			leave_rest(stream);
			continue;
		}
		/* Without those of the other CPUs, they contradict each other. */
		if (*ret_time_ns < since_ns(stream) && pp_stream_is_of_cpu(&stream->stream))
			continue;
		if (pp_stream_admit(&stream->stream, ret_time_ns) &&
		    pp_stream_look(&stream->stream, &stream->record, ret_time_ns))
			return true;
	}
}

bool pp_direct_stream_is_in_call(const struct pp_direct_stream *stream)
{
	return stream->stream.io_begins;
}

static void tell_missing(struct pp_direct_stream *stream)
{
	struct pp_layout_class *class = (struct pp_layout_class *)stream->class;

	if (!class->missing_reported)
		pp_capture_add_damage(stream->direct->decoder->capture, stream->direct->trace->dir,
				      "events %s have no usable field \"%s\": left out",
				      class->name, class->missing);
	class->missing_reported = true;
}

void pp_direct_stream_emit(struct pp_direct_stream *stream, int64_t time_ns)
{
	if (G_UNLIKELY(stream->is_over)) {
		pp_stream_emit_unseen(&stream->stream, time_ns);
		return;
	}
	if (G_UNLIKELY(stream->class->missing))
		tell_missing(stream);
	pp_stream_begin_event(&stream->stream, time_ns);
	if (stream->record.class->what != PP_CLASS_IGNORED)
		pp_stream_take(&stream->stream, &stream->record, time_ns);
}

/* --- reading parts of a stream -----------------------------------------------------------------
 */

GArray *pp_direct_stream_packets(const struct pp_direct_stream *stream)
{
	GArray *packets = g_array_new(FALSE, FALSE, sizeof(struct pp_packet_place));

	for (guint i = 0; i < stream->paths->len; i++)
		pp_packets_list(stream->direct->layout, stream->paths->pdata[i], i, packets);
	return packets;
}

guint pp_direct_stream_packet(const struct pp_direct_stream *stream, unsigned *ret_n_taken)
{
	*ret_n_taken = stream->n_taken;
	return stream->n_entered ? stream->n_entered - 1 : 0;
}

bool pp_direct_stream_seek(struct pp_direct_stream *stream, const GArray *packets, guint at)
{
	const struct pp_packet_place *packet = &g_array_index(packets, struct pp_packet_place, at);

	close_file(stream);
	stream->next_path = packet->file;
	stream->n_entered = at;
	if (!open_file(stream))
		return false;
	stream->packet_end = packet->offset;
	return begin_packet(stream);
}

bool pp_direct_stream_pass(struct pp_direct_stream *stream, int64_t *ret_time_ns)
{
	const uint8_t *at, *end;

	if (!has_event(stream))
		return false;
	end = stream->buffer + stream->n_buffered;
	at = take_class(stream, end);
	if (!at)
		return false;
	*ret_time_ns = (int64_t)MIN(stream->time_ns, INT64_MAX);
	if (stream->class->class.what == PP_CLASS_SITE || !stream->class->fixed_bytes) {
		stream->record.class = &stream->class->class;
		at = pp_payload_take(&stream->record, stream->class, at, end);
		if (at && stream->class->class.what == PP_CLASS_SITE)
			pp_stream_take(&stream->stream, &stream->record, *ret_time_ns);
	} else if ((size_t)(end - at) >= stream->class->fixed_bytes) {
		if (stream->class->object_at >= 0)
			pp_stream_pass_object(&stream->stream,
					      pp_load64(at + stream->class->object_at));
		at += stream->class->fixed_bytes;
	} else {
		at = NULL;
	}
	stream->next = at ? (unsigned)(at - stream->buffer) : stream->next;
	stream->n_taken += at != NULL;
	return at != NULL;
}

void pp_direct_stream_leave_gap(struct pp_direct_stream *stream)
{
	stream->stream.lost++;
}

static bool is_operation(const struct pp_event_class *class)
{
	return class->what == PP_CLASS_SYNC || class->what == PP_CLASS_IO;
}

bool pp_direct_stream_lacks_site(const struct pp_direct_stream *stream)
{
	uint64_t number = stream->record.values[PP_SYNC_SITE];

	return !stream->is_over && is_operation(stream->record.class) && number &&
	       (number >= stream->stream.sites->len ||
		!g_array_index(stream->stream.sites, uint64_t, number));
}

void pp_direct_stream_define_sites(struct pp_direct_stream *stream, const GArray *packets,
				   guint first, guint end)
{
	struct pp_direct_stream scout = {.direct = stream->direct, .paths = stream->paths};
	int64_t time_ns;

	pp_stream_init(&scout.stream, stream->direct->decoder, stream->direct->trace,
		       stream->paths->pdata[0]);
	g_array_unref(scout.stream.sites);
	scout.stream.sites = g_array_ref(stream->stream.sites);
	for (guint i = first; i < end && pp_direct_stream_seek(&scout, packets, i); i++)
		while (pp_direct_stream_pass(&scout, &time_ns))
			;
	close_file(&scout);
	pp_stream_done(&scout.stream);
	g_free(scout.buffer);
}

/* --- creation and release --------------------------------------------------------------------- */

static void stream_free(void *data)
{
	struct pp_direct_stream *stream = data;

	close_file(stream);
	pp_stream_done(&stream->stream);
	g_ptr_array_unref(stream->paths);
	g_free(stream->buffer);
	g_free(stream);
}

/* Adds a stream of these files, of char *; takes the array. */
static void add_stream(struct pp_direct_trace *direct, GPtrArray *paths)
{
	struct pp_direct_stream *stream = g_new0(struct pp_direct_stream, 1);

	stream->direct = direct;
	pp_stream_init(&stream->stream, direct->decoder, direct->trace, paths->pdata[0]);
	stream->paths = paths;
	g_ptr_array_add(direct->streams, stream);
}

/* Adds the streams of a process, or of the kernel; a stream may have several files. */
static void add_streams(struct pp_direct_trace *direct)
{
	const char *dir = direct->trace->dir;
	g_autoptr(GPtrArray) streams =
	    direct->trace->process ? pp_stream_paths(dir) : pp_kernel_stream_paths(dir);

	for (guint i = 0; i < streams->len; i++)
		add_stream(direct, g_ptr_array_ref(streams->pdata[i]));
}

struct pp_direct_trace *pp_direct_trace_new(struct pp_decoder *decoder,
					    const struct pp_trace *trace)
{
	struct pp_layout *layout;
	struct pp_direct_trace *direct;

	if (trace->is_ust)
		return NULL;
	layout = pp_layout_new(trace->dir, trace->process ? PP_NAMES_OURS : PP_NAMES_KERNEL);
	if (!layout || layout->head_bytes > PP_PACKET_HEAD_BYTES) {
		pp_layout_free(layout);
		return NULL;
	}
	direct = g_new0(struct pp_direct_trace, 1);
	direct->decoder = decoder;
	direct->trace = trace;
	direct->layout = layout;
	direct->streams = g_ptr_array_new_with_free_func(stream_free);
	add_streams(direct);
	return direct;
}

const GPtrArray *pp_direct_streams(const struct pp_direct_trace *direct)
{
	return direct->streams;
}

void pp_direct_trace_free(struct pp_direct_trace *direct)
{
	g_ptr_array_unref(direct->streams);
	pp_layout_free(direct->layout);
	g_free(direct);
}
