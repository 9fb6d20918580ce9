/* SPDX-License-Identifier: MIT */
/*
 * What each thread does at each instant: one state machine a thread, fed with every event in time
 * order.  Passes listen for the three things that come out: intervals of one mode, operations that
 * begin to wait, operations that are over.
 *
 * Modes come from the scheduler's events; the synchronization object that a thread is blocked on
 * comes from the operation it is in (between X_begin and X).  Without scheduling events a thread is
 * blocked from X_begin to X, and what it does otherwise is not known.
 *
 * Intervals of a thread are contiguous, so their sum is its lifetime, exactly.  Where events are
 * lost or contradict each other the time in doubt has the mode PP_MODE_UNKNOWN.
 */
#ifndef PP_ANALYSIS_STATE_THREAD_STATE_H
#define PP_ANALYSIS_STATE_THREAD_STATE_H

#include "core/event.h"
#include "core/model.h"
#include "analysis/anomaly.h"
#include "analysis/pass.h"
#include "analysis/state/thread_mode.h"

/* The kinds that the state machine must see. */
#define PP_THREAD_STATE_KINDS                                                                      \
	((((1u << (PP_EVENT_LOST + 1)) - 1) & ~PP_CALL_KINDS) |                                    \
	 PP_EVENT_MASK(PP_EVENT_SYSCALL_ENTRY) | PP_EVENT_MASK(PP_EVENT_SYSCALL_EXIT))

struct pp_thread_states;

/* listener and anomalies may be NULL; both are borrowed. */
struct pp_thread_states *pp_thread_states_new(const struct pp_pass_context *context,
					      const struct pp_thread_listener *listener,
					      struct pp_anomalies *anomalies);
void pp_thread_states_free(struct pp_thread_states *states);

void pp_thread_states_event(struct pp_thread_states *states, const struct pp_event *event);

/* Ends every life that is not over yet.  end_ns: time of the last event of the capture. */
void pp_thread_states_finish(struct pp_thread_states *states, int64_t end_ns);

/* NULL: nothing is known of that thread. */
const struct pp_thread_state *pp_thread_state(const struct pp_thread_states *states,
					      const struct pp_thread *thread);

/* The innermost operation that the thread is waiting in; NULL: none. */
const struct pp_operation *pp_thread_operation(const struct pp_thread_states *states,
					       const struct pp_thread *thread);

/* Did the operation block its thread?  Descheduled inside it, or without scheduling events: it
 * found the object taken. */
bool pp_operation_blocked(const struct pp_thread_states *states,
			  const struct pp_operation *operation);

/* False: there are scheduling events, but none tells of this thread.  After finish. */
bool pp_thread_blocking_known(const struct pp_thread_states *states,
			      const struct pp_thread *thread);

#endif
