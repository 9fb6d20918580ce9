/* SPDX-License-Identifier: MIT */
/* What locks cost, between the pass that counts it (locks.c) and its tables (locks_rows.c). */
#ifndef PP_PASS_LOCKS_H
#define PP_PASS_LOCKS_H

#include "analysis/state/object_state.h"
#include "analysis/site_set.h"
#include "analysis/spread.h"

/* Holds that began with that call, as met by the waits of one site. */
struct pp_lock_holder {
	struct pp_site_key key; /* of the call */
	uint64_t contended;
	int64_t wait_ns, wait_max_ns;
};

/* There may be millions of objects, with a site each, of which few are waited for. */
struct pp_lock_waits {
	uint64_t contended;
	int64_t wait_ns;
	struct pp_spread spread;
	struct pp_site_set holders; /* of struct pp_lock_holder */
};

struct pp_lock_site {
	struct pp_site_key key;
	uint64_t calls;
	int64_t hold_ns; /* the counted ones included */
	struct pp_spread holds;
	uint64_t n_counted; /* holds that are no events: sync.holds */
	int64_t counted_max_ns;
	struct pp_lock_waits *waits; /* NULL: none */
};

/* A wait that goes on, and what it met. */
struct pp_lock_wait {
	const struct pp_thread *thread;
	enum st_event op;
	uint32_t holder_tid;
	enum st_event holder_op;
	uint64_t holder_site;
	/* The hold before, if nothing else comes into question. */
	enum st_event former_op;
	uint64_t former_site;
};

/* A hold that has ended. */
struct pp_lock_former {
	const struct pp_thread *thread; /* NULL: none has */
	uint64_t site;
	enum st_event op;
};

/* struct pp_object.data */
struct pp_lock {
	uint64_t acquired, contended, timed_out;
	int64_t wait_ns, hold_ns;
	struct pp_site_set sites; /* of struct pp_lock_site */
	GArray *waits;		  /* of struct pp_lock_wait, for what can be held; NULL: none yet */
	struct pp_lock_former formers[2]; /* of different threads, the newest first */
};

struct pp_locks {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	uint64_t unfinished, held_to_end;
	bool has_counted; /* what is in them: the counted holds */
};

/* Are those of its operations that did not wait known by their number in all only?  Of objects of
 * that process and type. */
bool pp_lock_is_counted(const struct pp_object *object);

/* Is it known how long it was held? */
bool pp_lock_has_holds(const struct pp_object *object);

/* When all events have been seen, and the holds that are none are added. */
void pp_locks_tables(const struct pp_locks *self, GPtrArray *tables);

#endif
