/* SPDX-License-Identifier: MIT */
/*
 * Who holds each synchronization object and who waits for it: fed with the operations that come
 * out of thread_state.h, it tells passes of every acquisition, release and wait.
 *
 * An object is (process, address, generation): init, destroy, or another type or library at the
 * address ends a generation, and so does a successful join for a thread.  Objects stay until the
 * end; their number, not that of the events, bounds the memory.
 *
 * Clocks of two CPUs agree to a few nanoseconds, so an acquisition may come before the release that
 * allowed it.  The earlier hold then ends where the later began.
 */
#ifndef PP_ANALYSIS_STATE_OBJECT_STATE_H
#define PP_ANALYSIS_STATE_OBJECT_STATE_H

#include "analysis/state/thread_state.h"

struct pp_hold {
	const struct pp_thread *thread;
	enum st_event op; /* that acquired it; cond_wait for a re-acquisition */
	uint64_t site;
	int64_t since_ns;
	int64_t wait_ns;       /* for it */
	int64_t superseded_ns; /* another acquired it then; PP_TIME_UNKNOWN: none has */
	uint64_t n_before;     /* of its thread: what it had done when it acquired it */
	unsigned depth;	       /* of recursion */
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
	uint64_t era;	     /* core/event.h */
	unsigned generation; /* 1, 2, ... at this address */
	unsigned serial;     /* 0, 1, ... in order of appearance */
	enum gm_sync_type type;
	bool initialized, ended;
	bool created, started; /* a thread: seen made by its creator, seen by itself */
	uint64_t init_site, first_site;
	uint64_t value; /* of the init: kind of mutex, count */
	const struct pp_thread
	    *subject;	 /* the thread that this is; NULL: another type, not known */
	GArray *holds;	 /* of struct pp_hold; NULL: none */
	GArray *waiters; /* of struct pp_waiter; NULL: none yet */
	void *data;	 /* the pass's own */
};

static inline guint pp_object_n_holds(const struct pp_object *object)
{
	return object->holds ? object->holds->len : 0;
}

static inline guint pp_object_n_waiters(const struct pp_object *object)
{
	return object->waiters ? object->waiters->len : 0;
}

/* Each may be NULL.  `operation` is what brought the change about. */
struct pp_object_listener {
	void *data;
	void (*waits)(void *data, struct pp_object *object, const struct pp_operation *operation);
	/*
	 * Every operation on an object, after holds and waiters are up to date; `acquired`: it
	 * obtained the object.  A condition wait comes twice, first for the condition variable,
	 * then for its mutex, which it re-acquired.
	 */
	void (*operation)(void *data, struct pp_object *object,
			  const struct pp_operation *operation, bool acquired);
	/* `operation` is NULL where the hold ended otherwise: with its thread, or the capture. */
	void (*released)(void *data, struct pp_object *object, const struct pp_hold *hold,
			 int64_t end_ns, const struct pp_operation *operation);
	/* A condition wait let go of this mutex. */
	void (*yielded)(void *data, struct pp_object *mutex, const struct pp_operation *operation);
};

struct pp_objects {
	const struct pp_object_listener *listener;
	struct pp_anomalies *anomalies;
	GArray *n_done;		/* of uint64_t, by thread serial: operations begun and done */
	GHashTable *live;	/* a set, by process and address, of the newest generation there */
	GPtrArray *spare_holds; /* of GArray *, empty */
	struct pp_object *last; /* the newest generation where the last operation was; NULL */
	GPtrArray *all;		/* of struct pp_object *, by serial */
};

void pp_objects_init(struct pp_objects *objects, const struct pp_object_listener *listener,
		     struct pp_anomalies *anomalies);
/* free_data: for each object's data; NULL: none. */
void pp_objects_done(struct pp_objects *objects, GDestroyNotify free_data);

/*
 * What feeds them, for pp_thread_states_new(); its data are the objects.  A pass that listens for
 * intervals, too, puts its function there, and finds itself by pp_objects_owner().
 */
struct pp_thread_listener pp_objects_feed(struct pp_objects *objects);

/* `data` of the listener to objects. */
static inline void *pp_objects_owner(const struct pp_objects *objects)
{
	return objects->listener->data;
}

/* What the feed does when events were lost, for a pass that does more. */
void pp_objects_lost(struct pp_objects *objects, const struct pp_thread *thread);

/*
 * The object of an operation that is no event, when all events have been seen: the newest
 * generation there, or a new one.
 */
struct pp_object *pp_objects_counted(struct pp_objects *objects,
				     const struct pp_operation *operation);

/* Ends the holds that are still open, at the end of their threads or of the capture. */
void pp_objects_finish(struct pp_objects *objects, int64_t end_ns);

/* Can it be held: a mutex, a read-write lock, a spin lock? */
static inline bool pp_object_is_lock(const struct pp_object *object)
{
	return pp_sync_type_is_lock(object->type);
}

/* The thread's; NULL: it has none. */
const struct pp_hold *pp_object_hold(const struct pp_object *object,
				     const struct pp_thread *thread);

/*
 * Does the thread hold it, as far as anybody knows?  Not if another one has got it since, nor after
 * a loss of events; of neither `released` tells.
 */
bool pp_object_is_held(const struct pp_object *object, const struct pp_thread *thread);

/*
 * What a person calls it: the variable, "worker (tid 123)" for a thread, else the type and where it
 * was initialized or first used; "#2" for the second generation.  Caller frees.
 */
char *pp_object_name(const struct pp_object *object, const struct pp_namer *namer);

/* The same without generation and tid: what its like have, too, in any run.  Caller frees. */
char *pp_object_group(const struct pp_object *object, const struct pp_namer *namer);

#endif
