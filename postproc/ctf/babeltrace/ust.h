/* SPDX-License-Identifier: MIT */
/*
 * Streams of LTTng-UST: one per CPU, with the events of all threads that ran there.  Contexts
 * (vpid, vtid, procname) identify the thread.
 *
 * The threads are those of our thread tables, if there are any.  In a directory that LTTng alone
 * wrote, threads and load map come from the events: LTTng lists what is loaded where when a process
 * joins a session (lttng_ust_statedump).
 */
#ifndef PP_CTF_BABELTRACE_UST_H
#define PP_CTF_BABELTRACE_UST_H

#include "ctf/babeltrace/stream.h"

struct pp_ust_contexts pp_ust_contexts_of(const bt_stream_class *stream_class);

/*
 * Returns the thread of an event whose payload belongs to `class`.  NULL: skip the event, because
 * its process has streams of its own with the same events, or because its thread is unknown.
 */
struct pp_thread *pp_ust_thread(struct pp_bt_stream *bt, const bt_event *event,
				const struct pp_event_class *class, int64_t time_ns);

/*
 * Adds an event of PP_CLASS_LOAD or PP_CLASS_BUILD_ID to the load map of a process that has no map
 * file.
 */
void pp_ust_load(struct pp_bt_stream *bt, const bt_event *event, const struct pp_event_class *class,
		 int64_t time_ns);

#endif
