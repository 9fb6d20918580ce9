/* SPDX-License-Identifier: MIT */
/* What locks cost, between the pass that counts it (locks.c) and its tables (locks_rows.c). */
#ifndef PP_PASS_LOCKS_H
#define PP_PASS_LOCKS_H

#include "pass/object_state.h"
#include "pass/spread.h"

/* Holds that began with that call, as met by the waits of one site. */
struct pp_lock_holder {
	uint64_t address; /* 0: not known */
	enum st_event op;
	uint64_t contended;
	int64_t wait_ns, wait_max_ns;
};

struct pp_lock_site {
	uint64_t address;
	enum st_event op;
	uint64_t calls, contended;
	int64_t wait_ns, hold_ns;
	struct pp_spread waits, holds;
	GArray *holders; /* of struct pp_lock_holder: few; NULL: none */
};

/* A wait that goes on, and what it met. */
struct pp_lock_wait {
	const struct pp_thread *thread;
	enum st_event op;
	uint32_t holder_tid;
	enum st_event holder_op;
	uint64_t holder_site;
};

/* struct pp_object.data */
struct pp_lock {
	uint64_t acquired, contended, timed_out;
	int64_t wait_ns, hold_ns;
	GArray *sites; /* of struct pp_lock_site: few, searched in order */
	GArray *waits; /* of struct pp_lock_wait, for what can be held */
};

struct pp_locks {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	uint64_t unfinished, held_to_end;
};

/* Are those of its operations that did not wait known by their number in all only?  Of objects of
 * that process and type. */
bool pp_lock_is_counted(const struct pp_object *object);

/* Is it known how long it was held? */
bool pp_lock_has_holds(const struct pp_object *object);

/* The pass's finish(). */
void pp_locks_finish(void *state, int64_t end_ns, GPtrArray *tables);

#endif
