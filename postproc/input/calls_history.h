/* SPDX-License-Identifier: MIT */
/*
 * The history of calls (gmon-mt/history.h), read directly: one word a record, where Babeltrace
 * takes a message each.
 */
#ifndef PP_INPUT_CALLS_HISTORY_H
#define PP_INPUT_CALLS_HISTORY_H

#include "core/event.h"
#include "input/capture.h"

/* A stream: all its files, one after the other. */
struct pp_calls_stream;

/* The streams of all processes, of struct pp_calls_stream *; owns them. */
GPtrArray *pp_calls_streams_new(struct pp_capture *capture);

/*
 * The next call or return, in order of time.  False: there is none.  What cannot be read is damage
 * of the capture, and the stream goes on behind it if it can.
 */
bool pp_calls_stream_next(struct pp_calls_stream *stream, struct pp_event *ret);

#endif
