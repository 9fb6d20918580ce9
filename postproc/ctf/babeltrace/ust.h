/* SPDX-License-Identifier: MIT */
/*
 * Streams of LTTng-UST: events of all threads that ran on a CPU, which say themselves whose they
 * are (contexts vpid, vtid, procname).
 *
 * The threads are those of our tables, if there are any.  In a directory that LTTng alone wrote,
 * they and the load map come from the events: LTTng says when a process joins a session what is
 * loaded where (lttng_ust_statedump).
 */
#ifndef PP_CTF_BABELTRACE_UST_H
#define PP_CTF_BABELTRACE_UST_H

#include "ctf/babeltrace/stream.h"

struct pp_ust_contexts pp_ust_contexts_of(const bt_stream_class *stream_class);

/*
 * The thread of the event, whose payload is known to be of `class`.  NULL: it is to be left out, as
 * of a process that has streams of its own with the same events, or of nobody.
 */
struct pp_thread *pp_ust_thread(struct pp_bt_stream *bt, const bt_event *event,
				const struct pp_event_class *class, int64_t time_ns);

/* PP_CLASS_LOAD and PP_CLASS_BUILD_ID: of a process without a load map of ours. */
void pp_ust_load(struct pp_bt_stream *bt, const bt_event *event, const struct pp_event_class *class,
		 int64_t time_ns);

#endif
