/* SPDX-License-Identifier: MIT */
/*
 * The blocking call that a thread is in.  Without scheduling events, the thread is blocked from its
 * begin to its end.  thread_state.c calls these functions; the thread must be alive.
 */
#ifndef PP_ANALYSIS_STATE_THREAD_IO_H
#define PP_ANALYSIS_STATE_THREAD_IO_H

#include "analysis/state/thread_mode.h"

/* The thread, which is in no call, enters one. */
void pp_thread_io_begin(const struct pp_mode_observer *observer, struct pp_thread_state *self,
			const struct pp_event *event);

/*
 * It returns from the call.  If its begin was not seen, whether the thread was blocked in the call
 * or before it is unknown with scheduling events; without them, it was blocked since the begin, or
 * since its last event if that is later.
 */
void pp_thread_io_end(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		      const struct pp_event *event);

/* The thread, or the capture, ends within the call. */
void pp_thread_io_cut(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		      int64_t end_ns);

#endif
