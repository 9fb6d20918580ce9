/* SPDX-License-Identifier: MIT */
/*
 * Reads call histories (gmon-mt/history.h) directly: a record is one word, for which Babeltrace
 * would create a message.
 */
#ifndef PP_CALLS_HISTORY_H
#define PP_CALLS_HISTORY_H

#include "core/event.h"
#include "capture/capture.h"

/* A stream: all its files in order. */
struct pp_calls_stream;

/* The streams of all processes, of struct pp_calls_stream *; the array owns them. */
GPtrArray *pp_calls_streams_new(struct pp_capture *capture);

/*
 * Reads the next call or return, in time order.  Returns false at the end.  Unreadable data is
 * recorded as damage of the capture; reading continues after it if possible.
 */
bool pp_calls_stream_next(struct pp_calls_stream *stream, struct pp_event *ret);

/* Skips the rest of the current packet, which belongs to the same thread. */
void pp_calls_stream_skip(struct pp_calls_stream *stream);

uint64_t pp_calls_stream_bytes(const struct pp_calls_stream *stream);

/*
 * For streams that are read in parallel, each by one thread: shared data is accessed under the
 * lock, and damage is added to the capture by pp_calls_stream_tell(), after all readers have
 * finished.
 */
void pp_calls_stream_share(struct pp_calls_stream *stream, GMutex *lock);
void pp_calls_stream_tell(struct pp_calls_stream *stream);

#endif
