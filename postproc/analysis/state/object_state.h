/* SPDX-License-Identifier: MIT */
/*
 * Tracks holders and waiters of each synchronization object.  It is fed with the operations of
 * thread_state.h, and reports each acquisition, release and wait to a pass.
 *
 * An object is (process, address, generation).  A generation ends with init, destroy, another
 * object type or mapping at the address, and for a thread with a successful join.  Objects exist
 * until the end, so memory is bounded by their number, not by that of events.
 *
 * Clocks of two CPUs differ by a few nanoseconds, so an acquisition may precede the release that
 * allowed it.  The earlier hold then ends when the later one begins.
 */
#ifndef PP_ANALYSIS_STATE_OBJECT_STATE_H
#define PP_ANALYSIS_STATE_OBJECT_STATE_H

#include "analysis/state/thread_state.h"

struct pp_hold {
	const struct pp_thread *thread;
	enum st_event op; /* the operation that acquired it; cond_wait for a re-acquisition */
	uint64_t site;
	int64_t since_ns;
	int64_t wait_ns;       /* for this hold */
	int64_t superseded_ns; /* time of another thread's acquisition; PP_TIME_UNKNOWN: none */
	uint64_t n_before;     /* its thread's number of operations before it */
	unsigned depth;	       /* of recursive locking */
};

struct pp_waiter {
	const struct pp_thread *thread;
	enum st_event op;
	uint32_t holder;
	uint64_t site;
	int64_t since_ns;
};

struct pp_object {
	const struct pp_process *process;
	uint64_t address;
	uint64_t load_id;    /* core/event.h */
	unsigned generation; /* 1, 2, ... at this address */
	unsigned serial;     /* 0, 1, ... in order of appearance */
	enum gm_sync_type type;
	bool initialized, ended;
	bool created, started; /* a thread: its creation and its start were recorded */
	uint64_t init_site, first_site;
	uint64_t value; /* of the init: kind of mutex, initial count */
	const struct pp_thread
	    *subject;	 /* the thread that this object represents; NULL: another type, not known */
	GArray *holds;	 /* of struct pp_hold; NULL: none */
	GArray *waiters; /* of struct pp_waiter; NULL: none yet */
	void *data;	 /* for the pass */
};

static inline guint pp_object_n_holds(const struct pp_object *object)
{
	return object->holds ? object->holds->len : 0;
}

static inline guint pp_object_n_waiters(const struct pp_object *object)
{
	return object->waiters ? object->waiters->len : 0;
}

/* Each callback may be NULL.  `operation` is the cause of the change. */
struct pp_object_listener {
	void *data;
	void (*waits)(void *data, struct pp_object *object, const struct pp_operation *operation);
	/*
	 * Called for every operation on an object, after holds and waiters are updated; `acquired`:
	 * it acquired the object.  A condition wait calls it twice: for the condition variable,
	 * then for the re-acquired mutex.
	 */
	void (*operation)(void *data, struct pp_object *object,
			  const struct pp_operation *operation, bool acquired);
	/* `operation` is NULL if the hold ended with its thread or the capture. */
	void (*released)(void *data, struct pp_object *object, const struct pp_hold *hold,
			 int64_t end_ns, const struct pp_operation *operation);
	/* A condition wait released this mutex. */
	void (*yielded)(void *data, struct pp_object *mutex, const struct pp_operation *operation);
};

struct pp_objects {
	const struct pp_object_listener *listener;
	struct pp_anomalies *anomalies;
	GArray *n_done;		/* of uint64_t, by thread serial: operations begun or completed */
	GHashTable *live;	/* a set, by process and address, of the newest generations */
	GPtrArray *spare_holds; /* of GArray *, empty, for reuse */
	struct pp_object *last; /* the object of the last look-up; NULL */
	GPtrArray *all;		/* of struct pp_object *, by serial */
};

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
 * generation at the address, or a new one.
 */
struct pp_object *pp_objects_counted(struct pp_objects *objects,
				     const struct pp_operation *operation);

/* Ends the open holds, at the end of their threads or of the capture. */
void pp_objects_finish(struct pp_objects *objects, int64_t end_ns);

/* True if it can be held: a mutex, a read-write lock or a spin lock. */
static inline bool pp_object_is_lock(const struct pp_object *object)
{
	return pp_sync_type_is_lock(object->type);
}

/* The thread's hold; NULL if it has none. */
const struct pp_hold *pp_object_hold(const struct pp_object *object,
				     const struct pp_thread *thread);

/*
 * True if the thread is known to hold the object.  It is not after an acquisition by another thread
 * or a loss of events; `released` reports neither.
 */
bool pp_object_is_held(const struct pp_object *object, const struct pp_thread *thread);

/*
 * The display name of an object: the variable, "worker (tid 123)" for a thread, else the type and
 * the site of its initialization or first use, with "#2" for the second generation.  The caller
 * frees it.
 */
char *pp_object_name(const struct pp_object *object, const struct pp_namer *namer);

/* The name without generation and tid, which is the same in each run.  The caller frees it. */
char *pp_object_group(const struct pp_object *object, const struct pp_namer *namer);

#endif
