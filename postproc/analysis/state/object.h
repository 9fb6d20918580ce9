/* SPDX-License-Identifier: MIT */
/* A synchronization object and the set of all; object_state.h updates them. */
#ifndef PP_ANALYSIS_STATE_OBJECT_H
#define PP_ANALYSIS_STATE_OBJECT_H

#include "analysis/state/object_table.h"
#include "analysis/state/thread_state.h"

struct pp_hold {
	const struct pp_thread *thread;
	enum st_event op; /* the operation that acquired it; cond_wait for a re-acquisition */
	uint64_t site;
	const struct pp_path *path; /* up to the site; NULL: not known */
	int64_t since_ns;
	bool waited;
	bool shared;	       /* it excludes only those that are not */
	int64_t wait_ns;       /* for this hold */
	int64_t superseded_ns; /* time of another thread's acquisition; PP_TIME_UNKNOWN: none */
	const struct pp_thread *superseded_by; /* that thread */
	uint64_t n_before;		       /* its thread's number of operations before it */
	unsigned depth;			       /* of recursive locking */
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
	unsigned generation; /* 1, 2, ... at this address; 0: stands for ended objects */
	/* 0, 1, ...: its position in `all`.  Reused if objects are folded. */
	unsigned serial;
	uint64_t order;	   /* 0, 1, ... in order of appearance */
	uint64_t n_folded; /* the number of objects for which it stands */
	bool one_address;  /* ... which had the same address */
	enum gm_sync_type type;
	bool initialized, ended;
	bool is_referred;      /* object_refs.h */
	bool created, started; /* a thread: its creation and its start were recorded */
	uint64_t init_site, first_site;
	uint64_t value; /* of the init: kind of mutex, initial count */
	const struct pp_thread
	    *subject;  /* the thread that this object represents; NULL: another type, not known */
	GArray *holds; /* of struct pp_hold; NULL: none */
	GHashTable *hold_of; /* thread -> 1 + position in `holds`, if they are many; else NULL */
	guint n_current;     /* holds that no other acquisition has superseded */
	guint n_exclusive;   /* ... that exclude others */
	guint n_superseded;  /* the others, ever */
	GArray *waiters;     /* of struct pp_waiter; NULL: none yet */
	void *data;	     /* for the pass */
};

static inline guint pp_object_n_holds(const struct pp_object *object)
{
	return object->holds ? object->holds->len : 0;
}

static inline guint pp_object_n_waiters(const struct pp_object *object)
{
	return object->waiters ? object->waiters->len : 0;
}

/* Negative if x, of the first object, is greater, or, if they are equal, if it was found first. */
static inline int pp_object_compare(const struct pp_object *a, int64_t x, const struct pp_object *b,
				    int64_t y)
{
	if (x != y)
		return x > y ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
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
	/* A hold ended unnoticed: the object no longer exists, or events were lost. */
	void (*dropped)(void *data, struct pp_object *object, const struct pp_thread *thread);
	/* A condition wait released this mutex. */
	void (*yielded)(void *data, struct pp_object *mutex, const struct pp_operation *operation);
	/*
	 * For passes that need no object after its end.  `fold` adds the data of an ended object to
	 * those of the group that stands for it, and frees them; it returns false if the object has
	 * no data that matter, and is not to be counted.  `compare` is negative if the first object
	 * is more important; NULL: no ended object is kept, and there are no groups.  `is_brief`
	 * is true of ended objects that are never kept: each has one wait, and only their sum
	 * matters; NULL: of none.
	 */
	bool (*fold)(void *data, struct pp_object *object, struct pp_object *group);
	int (*compare)(const struct pp_object *a, const struct pp_object *b);
	bool (*is_brief)(const struct pp_object *object);
	const struct pp_pass_context *context; /* with `fold`: for names and the selection */
};

struct pp_folded;

#define PP_RECENT_OBJECTS 16u

struct pp_objects {
	const struct pp_object_listener *listener;
	struct pp_anomalies *anomalies;
	GArray *n_done; /* of uint64_t, by thread serial: operations begun or completed */
	struct pp_object_table live;
	GPtrArray *spare_holds; /* of GArray *, empty, for reuse */
	GPtrArray *spare;	/* of struct pp_object *, folded, for reuse */
	/* Objects of the last look-ups, by address: an unlock mostly follows its lock. */
	struct pp_object *recent[PP_RECENT_OBJECTS];
	GPtrArray *all;		  /* of struct pp_object *, by serial; NULL: folded */
	uint64_t n_early;	  /* releases of holds that began before the events of a ring */
	uint64_t n_ever;	  /* objects and groups so far */
	struct pp_folded *folded; /* object_fold.c; NULL: nothing is folded */
};

/* Returns the place of an object of that address among the last ones. */
static inline struct pp_object **pp_objects_recent(struct pp_objects *objects, uint64_t address)
{
	return &objects->recent[(address ^ address >> 6) / 8 % PP_RECENT_OBJECTS];
}

/* True if it can be held: a mutex, a read-write lock or a spin lock. */
static inline bool pp_object_is_lock(const struct pp_object *object)
{
	return pp_sync_type_is_lock(object->type);
}

/* True if it stands for several objects, which no longer exist. */
static inline bool pp_object_is_group(const struct pp_object *object)
{
	return !object->generation;
}

/* The number of objects that it is. */
static inline uint64_t pp_object_count(const struct pp_object *object)
{
	return pp_object_is_group(object) ? object->n_folded : 1;
}

#endif
