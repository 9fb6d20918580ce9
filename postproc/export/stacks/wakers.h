/* SPDX-License-Identifier: MIT */
/*
 * Finds the operation that ended each wait.  Listeners to objects and to operations feed it.
 *
 * The waker is the thread that woke the waiter, if it had released the object before or woken its
 * waiters; otherwise the thread that did so last before the wait ended.
 */
#ifndef PP_EXPORT_STACKS_WAKERS_H
#define PP_EXPORT_STACKS_WAKERS_H

#include "analysis/state/object_state.h"

/* An operation that released an object. */
struct pp_release {
	const struct pp_thread *thread; /* NULL: unknown */
	const struct pp_object *object;
	enum st_event op;
	uint64_t site;
	const struct pp_path *path; /* path to the call site; NULL: unknown */
	int64_t at_ns;
};

struct pp_wakers {
	GPtrArray *tracks; /* by serial of the thread; NULL: none yet */
	GArray *of_object; /* of struct pp_release, the last one of each object, by serial of the
			    * object */
};

void pp_wakers_init(struct pp_wakers *wakers);
void pp_wakers_done(struct pp_wakers *wakers);

/* Feed PP_EVENT_WAKING before passing it to the state machine. */
void pp_wakers_waking(struct pp_wakers *wakers, const struct pp_event *event);

/* Call these from the listeners of object_state.h. */
void pp_wakers_waits(struct pp_wakers *wakers, const struct pp_object *object,
		     const struct pp_operation *operation);
void pp_wakers_yielded(struct pp_wakers *wakers, const struct pp_object *mutex,
		       const struct pp_operation *operation);
/* Not for the second report of a condition wait, for its mutex. */
void pp_wakers_operation(struct pp_wakers *wakers, const struct pp_object *object,
			 const struct pp_operation *operation);

/* The object no longer exists; call it from `fold` of the listener. */
void pp_wakers_forget(struct pp_wakers *wakers, const struct pp_object *object);

/*
 * Call at the end of a wait, before pp_wakers_operation() of it.  Returns false if the waker is
 * unknown, or not a thread of the program.
 */
bool pp_wakers_end(struct pp_wakers *wakers, const struct pp_object *object,
		   const struct pp_operation *operation, struct pp_release *ret);

#endif
