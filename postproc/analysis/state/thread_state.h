/* SPDX-License-Identifier: MIT */
/*
 * A state machine per thread that tracks its state at each time, fed with every event in time
 * order.  It produces intervals of one mode, operations that begin to wait, and completed
 * operations; passes listen for these.  Blocking calls (core/io_call.h) are reported like
 * operations: they begin and end, and name the blocked time within them.
 *
 * Modes are derived from scheduling events.  The object that blocks a thread is that of its current
 * operation (between X_begin and X).  Without scheduling events, a thread is blocked from X_begin
 * to X, and in blocking calls; its mode outside of these is unknown.
 *
 * The intervals of a thread are contiguous, so their sum is exactly its lifetime.  Where events are
 * lost or contradictory, the mode is PP_MODE_UNKNOWN.
 */
#ifndef PP_ANALYSIS_STATE_THREAD_STATE_H
#define PP_ANALYSIS_STATE_THREAD_STATE_H

#include "core/event.h"
#include "core/model.h"
#include "analysis/anomaly.h"
#include "analysis/pass.h"
#include "analysis/state/thread_mode.h"

/* The kinds of events that the state machine needs. */
#define PP_THREAD_STATE_KINDS                                                                      \
	((((1u << (PP_EVENT_LOST + 1)) - 1) & ~PP_CALL_KINDS) | PP_IO_KINDS |                      \
	 PP_EVENT_MASK(PP_EVENT_STATE) | PP_EVENT_MASK(PP_EVENT_SYSCALL_ENTRY) |                   \
	 PP_EVENT_MASK(PP_EVENT_SYSCALL_EXIT))

struct pp_thread_states;

/* listener and anomalies may be NULL; both are borrowed. */
struct pp_thread_states *pp_thread_states_new(const struct pp_pass_context *context,
					      const struct pp_thread_listener *listener,
					      struct pp_anomalies *anomalies);
void pp_thread_states_free(struct pp_thread_states *states);

/*
 * The state machine that passes of a set share, so that each event is followed once; one of its own
 * for a pass without a set.  Each pass calls the functions below as if it were alone: what the
 * first one does is done for all.
 */
struct pp_thread_states *pp_thread_states_share(const struct pp_pass_context *context,
						const struct pp_thread_listener *listener);

void pp_thread_states_event(struct pp_thread_states *states, const struct pp_event *event);

/* Ends all open lifetimes. end_ns: time of the capture's last event. */
void pp_thread_states_finish(struct pp_thread_states *states, int64_t end_ns);

/* NULL if nothing is known of the thread. */
const struct pp_thread_state *pp_thread_state(const struct pp_thread_states *states,
					      const struct pp_thread *thread);

/* The selected part of all threads' lifetimes so far: the sum of all modes. */
int64_t pp_thread_lifetimes_ns(const struct pp_thread_states *states, const struct pp_model *model);

/* The innermost operation that the thread waits in; NULL if there is none. */
const struct pp_operation *pp_thread_operation(const struct pp_thread_states *states,
					       const struct pp_thread *thread);

/*
 * True if the operation blocked its thread: it was descheduled inside, or, without scheduling
 * events, the object was taken.
 */
bool pp_operation_blocked(const struct pp_thread_states *states,
			  const struct pp_operation *operation);

/*
 * False if there are scheduling events, but none of this thread.  To be called after
 * pp_thread_states_finish().
 */
bool pp_thread_blocking_known(const struct pp_thread_states *states,
			      const struct pp_thread *thread);

#endif
