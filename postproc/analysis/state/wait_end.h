/* SPDX-License-Identifier: MIT */
/*
 * Determines for each wait which thread it was for, and what ended it.  A pass that listens to
 * operations feeds it in parallel with object_state.h.
 *
 * For a lock, that thread is the owner at the begin of the wait, as recorded in the object or else
 * as derived from earlier operations.  If there is no owner, or several, it is the waker, if
 * wake-ups are recorded, or else the last thread that released the object before the wait ended.  A
 * join waits for the joined thread.
 *
 * A mark is the pass's number for a call, such as that of its call site.
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

/* The name of a kind: "held", ... */
const char *pp_wait_how_text(enum pp_wait_how how);

/* Another thread, and its call that acquired the object or ended the wait. */
struct pp_wait_other {
	const struct pp_thread *thread; /* NULL: not known */
	uint32_t mark;			/* PP_MARK_NONE */
};

struct pp_wait_ends {
	const struct pp_model *model;
	GPtrArray *tracks;   /* by thread serial; NULL: no event yet */
	GPtrArray *releases; /* by object serial; NULL: none yet */
};

void pp_wait_ends_init(struct pp_wait_ends *ends, const struct pp_model *model);
void pp_wait_ends_done(struct pp_wait_ends *ends);

/*
 * Records that the thread makes the call `mark`. To be called after the state machine processed the
 * event.
 */
void pp_wait_ends_call(struct pp_wait_ends *ends, const struct pp_thread *thread, uint32_t mark);

/* Processes a PP_EVENT_WAKING.  To be called before the state machine processes the event. */
void pp_wait_ends_waking(struct pp_wait_ends *ends, const struct pp_event *event);

/* The thread that owned the object when the wait began, and its hold; both may be NULL. */
const struct pp_thread *pp_wait_owner(const struct pp_wait_ends *ends,
				      const struct pp_object *object,
				      const struct pp_operation *operation,
				      const struct pp_hold **ret_hold);

/* Records the begin of a wait; `owner` comes from pp_wait_owner(). */
void pp_wait_ends_begin(struct pp_wait_ends *ends, const struct pp_object *object,
			const struct pp_operation *operation, struct pp_wait_other owner);

/* True if the operation releases its object or wakes its waiters. */
bool pp_operation_releases(const struct pp_operation *operation);

/* Records a release at at_ns.  To be called before the waits that it ends are settled. */
void pp_wait_ends_release(struct pp_wait_ends *ends, const struct pp_object *object,
			  const struct pp_thread *by, uint32_t mark, int64_t at_ns);

/* The object is about to be freed, before the end. */
void pp_wait_ends_forget(struct pp_wait_ends *ends, const struct pp_object *object);

/* Settles a completed operation that waited: returns how it ended, and by which thread and call. */
enum pp_wait_how pp_wait_ends_settle(struct pp_wait_ends *ends, const struct pp_object *object,
				     const struct pp_operation *operation,
				     struct pp_wait_other *ret);

#endif
