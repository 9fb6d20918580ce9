/* SPDX-License-Identifier: MIT */
/*
 * From the records of streams to core events.
 *
 * A stream is read by one owner, which tells of its packets and losses as they come, asks for each
 * event whether it is to be taken (pp_stream_admit) and, when its turn has come among all streams,
 * hands over its fields as a record (pp_stream_begin_event, pp_stream_take).
 */
#ifndef PP_CTF_DECODE_H
#define PP_CTF_DECODE_H

#include "ctf/stream.h"

void pp_decoder_init(struct pp_decoder *decoder, struct pp_capture *capture, unsigned kinds,
		     void (*take)(void *data, const struct pp_event *event), void *data);
void pp_decoder_done(struct pp_decoder *decoder);

/* Hands over an event that is of no such stream, if it is of a kind that is wanted. */
void pp_decoder_emit(struct pp_decoder *decoder, const struct pp_event *event);

void pp_stream_init(struct pp_stream *stream, struct pp_decoder *decoder,
		    const struct pp_trace *trace, const char *name);
void pp_stream_done(struct pp_stream *stream);

/* A packet begins; UINT64_MAX: it does not say of which CPU, or thread. */
void pp_stream_packet(struct pp_stream *stream, uint64_t cpu, uint64_t tid, uint64_t index);

/* So many events were lost; 0: how many is not known. */
void pp_stream_lose(struct pp_stream *stream, uint64_t count);

/* False: the event is to be left out.  Times of one stream never go back: it is moved if it does.
 */
bool pp_stream_admit(struct pp_stream *stream, int64_t *time_ns);

/* An event's turn has come: tells what was lost before it. */
void pp_stream_begin_event(struct pp_stream *stream, int64_t time_ns);

/* ... and what it is, if its class is none that is ignored. */
void pp_stream_take(struct pp_stream *stream, const struct pp_record *record, int64_t time_ns);

/* The stream has no more: tells what it lost. */
void pp_stream_end(struct pp_stream *stream);

/* Does it tell what happened on a CPU, and so, by its end, that nothing more is known of it? */
bool pp_stream_is_of_cpu(const struct pp_stream *stream);
void pp_stream_emit_unseen(const struct pp_stream *stream, int64_t time_ns);

#endif
