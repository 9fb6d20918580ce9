/* SPDX-License-Identifier: MIT */
/* See ahead.h. */
#include "ctf/ahead.h"

#include "ctf/decode_accesses.h"
#include "ctf/decode_sync.h"

/* A call that began before the stream's last event is passed on at that one's time. */
static void look_at_call(struct pp_stream *stream, const struct pp_record *record,
			 int64_t before_ns, int64_t *time_ns)
{
	uint64_t duration_ns = record->values[PP_IO_DURATION];

	stream->has_io = false;
	if (!(stream->decoder->kinds & PP_EVENT_MASK(PP_EVENT_IO_BEGIN)) || !duration_ns ||
	    !pp_io_may_last(stream, duration_ns, *time_ns))
		return;
	stream->io_begins = true;
	stream->io_end_ns = *time_ns;
	*time_ns = MAX(*time_ns - (int64_t)duration_ns, before_ns);
}

bool pp_stream_look(struct pp_stream *stream, const struct pp_record *record, int64_t *time_ns)
{
	int64_t before_ns = stream->looked_ns;

	/* LTTng's streams have the events of many threads, and define nothing. */
	if (!stream->trace->process || stream->trace->is_ust)
		return true;
	switch (record->class->what) {
	case PP_CLASS_SITE:
	case PP_CLASS_CALL_PATH:
	case PP_CLASS_PATH:
	case PP_CLASS_TRIES:
	case PP_CLASS_CONDITIONALS:
	case PP_CLASS_ORDER:
		stream->n_events++;
		pp_decode_definition(stream, record);
		return false;
	case PP_CLASS_LINES:
		stream->n_events++;
		pp_decode_lines(stream, record);
		return false;
	case PP_CLASS_KNOWN_LINES:
		stream->n_events++;
		pp_decode_known_lines(stream, record);
		return false;
	default:
		break;
	}
	stream->looked_ns = *time_ns;
	if (record->class->what == PP_CLASS_IO)
		look_at_call(stream, record, before_ns, time_ns);
	return true;
}

void pp_stream_take_io(struct pp_stream *stream, const struct pp_record *record, int64_t time_ns)
{
	struct pp_event event = {.cpu = stream->cpu, .time_ns = time_ns};

	if (stream->has_io) {
		stream->has_io = false;
		stream->io.time_ns = time_ns;
		stream->io.kind = PP_EVENT_IO;
		pp_stream_hand_over(stream, &stream->io);
		return;
	}
	/* One of a later version is counted, and left out, at its end. */
	if (stream->io_begins && record->values[PP_IO_CALL] >= ST_N_IO_CALLS)
		return;
	if (!pp_decode_io(stream, record, &event))
		return;
	if (stream->io_begins) {
		stream->io = event;
		stream->has_io = true;
		event.kind = PP_EVENT_IO_BEGIN;
	}
	pp_stream_hand_over(stream, &event);
}
