/* SPDX-License-Identifier: MIT */
/* Shared by the pass that counts the costs of locks (locks.c) and its tables (locks_rows.c). */
#ifndef PP_PASS_LOCKS_H
#define PP_PASS_LOCKS_H

#include "analysis/state/object_state.h"
#include "analysis/site_set.h"
#include "analysis/percentiles.h"

/* Holds begun by that call, for which the waits of one call site waited. */
struct pp_lock_holder {
	struct pp_site_key key; /* of the call */
	uint64_t contended;
	int64_t wait_ns, wait_max_ns;
};

/* Separate, since of millions of objects with a call site each, few are waited for. */
struct pp_lock_waits {
	uint64_t contended;
	int64_t wait_ns;
	struct pp_spread spread;
	struct pp_site_set holders; /* of struct pp_lock_holder */
};

struct pp_lock_site {
	struct pp_site_key key;
	uint64_t calls;
	int64_t hold_ns; /* including counted holds */
	struct pp_spread holds;
	uint64_t n_counted; /* holds without events (sync.holds) */
	int64_t counted_max_ns;
	struct pp_lock_waits *waits; /* NULL: none */
};

/* An open wait, and the hold that it waits for. */
struct pp_lock_wait {
	const struct pp_thread *thread;
	enum st_event op;
	uint32_t holder_tid;
	enum st_event holder_op;
	uint64_t holder_site;
	/* The previous hold, used if no other is found. */
	enum st_event former_op;
	uint64_t former_site;
};

/* An ended hold. */
struct pp_lock_former {
	const struct pp_thread *thread; /* NULL: none has ended */
	uint64_t site;
	enum st_event op;
};

/* struct pp_object.data */
struct pp_lock {
	uint64_t acquired, contended, timed_out;
	int64_t wait_ns, hold_ns;
	int64_t runnable_ns;	  /* part of the wait: ready without a CPU */
	struct pp_site_set sites; /* of struct pp_lock_site */
	GArray *waits;		  /* of struct pp_lock_wait, for lockable objects; NULL: none yet */
	struct pp_lock_former formers[2]; /* of different threads, the last one first */
};

struct pp_locks {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	uint64_t unfinished, held_to_end;
	bool has_counted; /* the counted holds have been added */
};

/*
 * True if uncontended operations are known only as a total, as for objects of that process and
 * type.
 */
bool pp_lock_is_counted(const struct pp_object *object);

/* True if its hold times are known. */
bool pp_lock_has_holds(const struct pp_object *object);

/* Adds the tables.  To be called after all events and the counted holds. */
void pp_locks_tables(const struct pp_locks *self, GPtrArray *tables);

#endif
