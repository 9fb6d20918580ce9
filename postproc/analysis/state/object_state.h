/* SPDX-License-Identifier: MIT */
/*
 * Tracks holders and waiters of each synchronization object.  It is fed with the operations of
 * thread_state.h, and reports each acquisition, release and wait to a pass.
 *
 * An object is (process, address, generation).  A generation ends with init, destroy, another
 * object type or mapping at the address, and for a thread with a successful join.  Ended objects
 * are folded if the listener can do that (object_fold.h), and else exist until the end: memory is
 * bounded by the number of objects, not by that of events.
 *
 * Clocks of two CPUs differ by a few nanoseconds, so an acquisition may precede the release that
 * allowed it.  The earlier hold then ends when the later one begins.
 */
#ifndef PP_ANALYSIS_STATE_OBJECT_STATE_H
#define PP_ANALYSIS_STATE_OBJECT_STATE_H

#include "analysis/state/object.h"
#include "analysis/state/object_name.h"

void pp_objects_init(struct pp_objects *objects, const struct pp_object_listener *listener,
		     struct pp_anomalies *anomalies);
/* free_data frees each object's data; may be NULL. */
void pp_objects_done(struct pp_objects *objects, GDestroyNotify free_data);

/*
 * The listener for pp_thread_states_new() that updates the objects; its data are the objects.  A
 * pass that also listens for intervals sets that callback itself, and finds its state through
 * pp_objects_owner().
 */
struct pp_thread_listener pp_objects_feed(struct pp_objects *objects);

/* `data` of the object listener. */
static inline void *pp_objects_owner(const struct pp_objects *objects)
{
	return objects->listener->data;
}

/* The objects' handling of lost events, for passes with a `lost` callback of their own. */
void pp_objects_lost(struct pp_objects *objects, const struct pp_thread *thread);

/*
 * The object of an operation without an event, after all events have been processed: the newest
 * generation at the address, the one that it was folded into, or a new one.
 */
struct pp_object *pp_objects_counted(struct pp_objects *objects,
				     const struct pp_operation *operation);

/* The newest object at the address; NULL: none, or it was folded. */
struct pp_object *pp_objects_at(struct pp_objects *objects, const struct pp_process *process,
				uint64_t address);

/* Ends the open holds, at the end of their threads or of the capture. */
void pp_objects_finish(struct pp_objects *objects, int64_t end_ns);

/* The thread's hold; NULL if it has none. */
const struct pp_hold *pp_object_hold(const struct pp_object *object,
				     const struct pp_thread *thread);

/* The number of operations that the thread has begun or completed. */
uint64_t pp_objects_n_done(const struct pp_objects *objects, const struct pp_thread *thread);

/*
 * True if the thread is known to hold the object.  It is not after an acquisition by another thread
 * or a loss of events; `released` reports neither.
 */
bool pp_object_is_held(const struct pp_object *object, const struct pp_thread *thread);

#endif
