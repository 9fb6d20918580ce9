/* SPDX-License-Identifier: MIT */
/*
 * Who ended each wait, with which call: fed by a listener to objects and to operations.
 *
 * That is whoever woke the thread, if he had let go of the object before, or woken its waiters;
 * else the last that did, before the wait was over.
 */
#ifndef PP_EXPORT_STACKS_WAKERS_H
#define PP_EXPORT_STACKS_WAKERS_H

#include "analysis/state/object_state.h"

/* A call that let go of an object. */
struct pp_release {
	const struct pp_thread *thread; /* NULL: not known */
	const struct pp_object *object;
	enum st_event op;
	uint64_t site;
	const struct pp_path *path; /* to the site; NULL: not known */
	int64_t at_ns;
};

struct pp_wakers {
	GPtrArray *tracks; /* by serial of the thread; NULL: none yet */
	GArray *of_object; /* of struct pp_release, the last of each: by serial of the object */
};

void pp_wakers_init(struct pp_wakers *wakers);
void pp_wakers_done(struct pp_wakers *wakers);

/* A PP_EVENT_WAKING; before it is handed to the state machine. */
void pp_wakers_waking(struct pp_wakers *wakers, const struct pp_event *event);

/* What listeners hear: see object_state.h. */
void pp_wakers_waits(struct pp_wakers *wakers, const struct pp_object *object,
		     const struct pp_operation *operation);
void pp_wakers_yielded(struct pp_wakers *wakers, const struct pp_object *mutex,
		       const struct pp_operation *operation);
/* Not the second time that a condition wait comes, for its mutex. */
void pp_wakers_operation(struct pp_wakers *wakers, const struct pp_object *object,
			 const struct pp_operation *operation);

/* A wait is over, before pp_wakers_operation() of it.  False: not known who ended it, or nobody. */
bool pp_wakers_end(struct pp_wakers *wakers, const struct pp_object *object,
		   const struct pp_operation *operation, struct pp_release *ret);

#endif
