/* SPDX-License-Identifier: MIT */
/*
 * Decodes records of streams into core events.
 *
 * Each stream has one reader.  It reports the stream's packets and losses in order and asks for
 * each event whether it is wanted (pp_stream_admit).  When the event is the next among all streams,
 * it passes the fields as a record (pp_stream_begin_event, pp_stream_take).
 */
#ifndef PP_CTF_DECODE_H
#define PP_CTF_DECODE_H

#include "ctf/stream.h"

void pp_decoder_init(struct pp_decoder *decoder, struct pp_capture *capture, unsigned kinds,
		     void (*take)(void *data, const struct pp_event *event), void *data);
void pp_decoder_done(struct pp_decoder *decoder);

/* Passes on an event that belongs to no stream, if its kind is wanted. */
void pp_decoder_emit(struct pp_decoder *decoder, const struct pp_event *event);

void pp_stream_init(struct pp_stream *stream, struct pp_decoder *decoder,
		    const struct pp_trace *trace, const char *name);
void pp_stream_done(struct pp_stream *stream);

/* Begins a packet.  UINT64_MAX: the packet names no CPU, or no thread. */
void pp_stream_packet(struct pp_stream *stream, uint64_t cpu, uint64_t tid, uint64_t index);

/* Notes that `count` events were lost; 0: an unknown number. */
void pp_stream_lose(struct pp_stream *stream, uint64_t count);

/*
 * Returns false if the event is to be skipped, as one far from the capture's start is.  Times of a
 * stream never decrease: an earlier *time_ns is raised to the last one.
 */
bool pp_stream_admit(struct pp_stream *stream, int64_t *time_ns);

/* Begins the next event of the merged streams: first reports the losses before it. */
void pp_stream_begin_event(struct pp_stream *stream, int64_t time_ns);

/* Decodes the event's record, unless its class is ignored. */
void pp_stream_take(struct pp_stream *stream, const struct pp_record *record, int64_t time_ns);

/* Notes the object of an event that is not decoded; later events of the packet may refer to it. */
static inline void pp_stream_pass_object(struct pp_stream *stream, uint64_t object)
{
	stream->object = object;
	stream->has_object = true;
}

/* Ends the stream and reports its losses. */
void pp_stream_end(struct pp_stream *stream);

/* Does the stream hold the events of one CPU?  From its end on, the CPU's state is unknown. */
bool pp_stream_is_of_cpu(const struct pp_stream *stream);
void pp_stream_emit_unseen(const struct pp_stream *stream, int64_t time_ns);

#endif
