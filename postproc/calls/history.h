/* SPDX-License-Identifier: MIT */
/*
 * The history of calls (gmon-mt/history.h), read directly: one word a record, where Babeltrace
 * takes a message each.
 */
#ifndef PP_CALLS_HISTORY_H
#define PP_CALLS_HISTORY_H

#include "core/event.h"
#include "capture/capture.h"

/* A stream: all its files, one after the other. */
struct pp_calls_stream;

/* The streams of all processes, of struct pp_calls_stream *; owns them. */
GPtrArray *pp_calls_streams_new(struct pp_capture *capture);

/*
 * The next call or return, in order of time.  False: there is none.  What cannot be read is damage
 * of the capture, and the stream goes on behind it if it can.
 */
bool pp_calls_stream_next(struct pp_calls_stream *stream, struct pp_event *ret);

/* Leaves out the rest of the packet that the last one was in: it belongs to the same thread. */
void pp_calls_stream_skip(struct pp_calls_stream *stream);

uint64_t pp_calls_stream_bytes(const struct pp_calls_stream *stream);

/*
 * For streams that are read at the same time, each by one thread: what they share is used under the
 * lock, and the capture is told of damage by pp_calls_stream_tell(), when nobody reads any more.
 */
void pp_calls_stream_share(struct pp_calls_stream *stream, GMutex *lock);
void pp_calls_stream_tell(struct pp_calls_stream *stream);

#endif
