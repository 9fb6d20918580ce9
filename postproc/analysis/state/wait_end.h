/* SPDX-License-Identifier: MIT */
/*
 * Whom each wait was for, and what ended it: fed beside object_state.h by a pass that listens to
 * operations.
 *
 * For a lock that is its owner when the wait began, as the object itself named it, or else as the
 * operations before tell.  Where there is no owner, or several, it is whoever ended the wait: woke
 * the thread, if wake-ups are recorded, or else released the object last before the wait was over.
 * Waiting for a thread's end is waiting for that thread.
 *
 * A mark is the pass's own number for a call, such as its site's.
 */
#ifndef PP_ANALYSIS_STATE_WAIT_END_H
#define PP_ANALYSIS_STATE_WAIT_END_H

#include "analysis/state/object_state.h"

#define PP_MARK_NONE UINT32_MAX

enum pp_wait_how {
	PP_WAIT_HELD,
	PP_WAIT_WOKE,
	PP_WAIT_RELEASED,
	PP_WAIT_ENDED,
	PP_WAIT_TIMED_OUT,
	PP_WAIT_ENDLESS,
	PP_WAIT_NOT_KNOWN,
	PP_N_WAIT_HOWS
};

/* "held", ... */
const char *pp_wait_how_text(enum pp_wait_how how);

/* Somebody, and the call with which he took the object, or ended the wait. */
struct pp_wait_other {
	const struct pp_thread *thread; /* NULL: not known */
	uint32_t mark;			/* PP_MARK_NONE */
};

struct pp_wait_ends {
	const struct pp_model *model;
	GPtrArray *tracks;   /* by thread serial; NULL: not seen */
	GPtrArray *releases; /* by object serial; NULL: none yet */
};

void pp_wait_ends_init(struct pp_wait_ends *ends, const struct pp_model *model);
void pp_wait_ends_done(struct pp_wait_ends *ends);

/* The thread makes that call; after it was handed to the state machine. */
void pp_wait_ends_call(struct pp_wait_ends *ends, const struct pp_thread *thread, uint32_t mark);

/* A PP_EVENT_WAKING; before it is handed to the state machine. */
void pp_wait_ends_waking(struct pp_wait_ends *ends, const struct pp_event *event);

/* The hold that a wait for the object met, and its thread: both may be NULL. */
const struct pp_thread *pp_wait_owner(const struct pp_wait_ends *ends,
				      const struct pp_object *object,
				      const struct pp_operation *operation,
				      const struct pp_hold **ret_hold);

/* A wait begins; `owner` as pp_wait_owner() says. */
void pp_wait_ends_begin(struct pp_wait_ends *ends, const struct pp_object *object,
			const struct pp_operation *operation, struct pp_wait_other owner);

/* Does the operation let go of its object, or wake who waits for it? */
bool pp_operation_releases(const struct pp_operation *operation);

/* It did, at at_ns; before the waits that it ends. */
void pp_wait_ends_release(struct pp_wait_ends *ends, const struct pp_object *object,
			  const struct pp_thread *by, uint32_t mark, int64_t at_ns);

/* An operation that waited is over. */
enum pp_wait_how pp_wait_ends_settle(struct pp_wait_ends *ends, const struct pp_object *object,
				     const struct pp_operation *operation,
				     struct pp_wait_other *ret);

#endif
