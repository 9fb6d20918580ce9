/* SPDX-License-Identifier: MIT */
/*
 * Reads streams that our own writers made without Babeltrace: an event takes a few loads instead of
 * a message, and damaged traces need no temporary copy.
 */
#ifndef PP_CTF_DIRECT_H
#define PP_CTF_DIRECT_H

#include "ctf/decode.h"

/* A trace, and one of its streams with all its files in sequence. */
struct pp_direct_trace;
struct pp_direct_stream;

/* Returns NULL if the metadata is not by our writers. */
struct pp_direct_trace *pp_direct_trace_new(struct pp_decoder *decoder,
					    const struct pp_trace *trace);
void pp_direct_trace_free(struct pp_direct_trace *direct);

/* Returns the streams, of struct pp_direct_stream *; the trace owns them. */
const GPtrArray *pp_direct_streams(const struct pp_direct_trace *direct);

/*
 * Moves to the next event, or to the end of a CPU's events; false: there is none.  Unreadable data
 * is damage of the capture and ends the stream.
 */
bool pp_direct_stream_next(struct pp_direct_stream *stream, int64_t *ret_time_ns);

/* Passes on the current event. */
void pp_direct_stream_emit(struct pp_direct_stream *stream, int64_t time_ns);

#endif
