/* SPDX-License-Identifier: MIT */
/*
 * Instances of critical sections, with the memory that each one accessed.
 *
 * An instance is the time in which a thread holds a lock (mutex, read-write lock, spin lock), from
 * an acquisition to the release; recursive acquisitions belong to the outermost one.  A condition
 * wait ends the instance of its mutex, and its return begins the next one, whose entry is the wait
 * (as in `bottlenecks`).  A segment of accesses belongs to all instances that its thread is in, so
 * nested and overlapping sections each have all of their accesses.
 *
 * The bytes of the lock itself are left out: their address and the size by type.
 */
#ifndef PP_ANALYSIS_ACCESSES_SECTIONS_H
#define PP_ANALYSIS_ACCESSES_SECTIONS_H

#include "analysis/state/object_state.h"
#include "core/access_set.h"

/* The accesses of an instance are known, or not for one of these reasons. */
enum pp_accesses_known {
	PP_ACCESSES_KNOWN,
	PP_ACCESSES_UNKNOWN,   /* its thread or process records none */
	PP_ACCESSES_UNSAMPLED, /* it was not stepped, or only in part */
	PP_ACCESSES_ABANDONED, /* stepping was given up */
	PP_N_ACCESSES_KNOWN
};

struct pp_access_instance {
	const struct pp_thread *thread;
	struct pp_object *object;   /* the lock; its `data` is for the listener */
	enum st_event op;	    /* the acquisition, or the condition wait that re-acquired it */
	uint64_t site;		    /* ... and its call site; 0: not known */
	const struct pp_path *path; /* up to the site; NULL: not known */
	bool shared;		    /* a reader of a read-write lock */
	bool is_cut;		    /* its release was not recorded */
	uint64_t order;		    /* number of the acquisition (core/event.h); 0: not known */
	int64_t begin_ns, end_ns;
	/* The rest is 0 and the empty set, unless PP_ACCESSES_KNOWN. */
	enum pp_accesses_known known;
	/* Lent.  Those of which the life has not ended before the end of the instance, and those
	 * of which it has. */
	struct pp_access_set *set, *ended_set;
	/* Lent.  All bytes of the blocks that the thread freed in it, as written and changed: no
	 * other section may access them in either order.  In none of the other sets and sums. */
	struct pp_access_set *freed_set;
	uint64_t reads, writes; /* accesses; one that reads and writes counts as both */
	uint64_t left_out;	/* ... of which the set lacks lines */
	unsigned flags;		/* enum st_access_flags of its segments */
};

/* Each callback may be NULL. */
struct pp_access_listener {
	void *data;
	/* In order of the ends: for exclusive instances, the order in which they had the lock. */
	void (*ended)(void *data, const struct pp_access_instance *instance);
	/* A segment of accesses in the open instance, which has no end yet. */
	void (*segment)(void *data, const struct pp_access_instance *instance,
			const struct pp_event *event);
	/* A thread of the process is about to access this block for the first time. */
	void (*block)(void *data, const struct pp_process *process, uint64_t address, uint64_t size,
		      uint64_t site);
	/*
	 * All locations in these bytes end their life: first those accessed by open instances
	 * (`set` has this part only, and the instance has no end and no sums yet; it may turn out
	 * to be unknown later), then, once, all others.  The open instances of the thread that
	 * frees them have all of these bytes in `freed_set`; their `set` may be empty.
	 */
	void (*freed_within)(void *data, const struct pp_access_instance *instance);
	void (*freed)(void *data, const struct pp_process *process, uint64_t address,
		      uint64_t size);
	/* After both of these: the thread frees them now. */
	void (*freed_by)(void *data, const struct pp_thread *thread, uint64_t address,
			 uint64_t size, int64_t time_ns);
	/* For ended locks; see object.h.  NULL: they exist until the end. */
	bool (*fold)(void *data, struct pp_object *object, struct pp_object *group);
	int (*compare)(const struct pp_object *a, const struct pp_object *b);
};

/* The kinds of events that pp_access_sections_event() needs. */
#define PP_ACCESS_SECTIONS_KINDS (PP_THREAD_STATE_KINDS | PP_ACCESS_KINDS)

struct pp_access_sections;

/* The listener is borrowed. */
struct pp_access_sections *pp_access_sections_new(const struct pp_pass_context *context,
						  const struct pp_access_listener *listener);

/* free_data frees each object's data; may be NULL. */
void pp_access_sections_free(struct pp_access_sections *sections, GDestroyNotify free_data);

void pp_access_sections_event(struct pp_access_sections *sections, const struct pp_event *event);

/* Ends the open instances.  end_ns: time of the capture's last event. */
void pp_access_sections_finish(struct pp_access_sections *sections, int64_t end_ns);

/* All locks, among other objects. */
const struct pp_objects *pp_access_sections_objects(const struct pp_access_sections *sections);

/* The size of a lock of that type, in bytes; 0: it is no lock. */
unsigned pp_lock_bytes(enum gm_sync_type type);

#endif
