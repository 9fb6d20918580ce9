/* SPDX-License-Identifier: MIT */
/*
 * Streams of the traces that our own writers made, read without Babeltrace: a few loads an event
 * where that makes a message, and no temporary copies of what is damaged.
 */
#ifndef PP_CTF_DIRECT_H
#define PP_CTF_DIRECT_H

#include "ctf/decode.h"

/* A trace, and a stream of it: all its files, one after the other. */
struct pp_direct_trace;
struct pp_direct_stream;

/* NULL: its metadata is not of our writers. */
struct pp_direct_trace *pp_direct_trace_new(struct pp_decoder *decoder,
					    const struct pp_trace *trace);
void pp_direct_trace_free(struct pp_direct_trace *direct);

/* Of struct pp_direct_stream *; owned by the trace. */
const GPtrArray *pp_direct_streams(const struct pp_direct_trace *direct);

/*
 * Goes on to the next event, or the end of a CPU's events; false: there is none.  What cannot be
 * read is damage of the capture; nothing behind it in the stream is.
 */
bool pp_direct_stream_next(struct pp_direct_stream *stream, int64_t *ret_time_ns);

/* Hands over what it is at. */
void pp_direct_stream_emit(struct pp_direct_stream *stream, int64_t time_ns);

#endif
