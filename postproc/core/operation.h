/* SPDX-License-Identifier: MIT */
/*
 * The properties of each synchronization operation in one const table: the type of its object, the
 * function that the program called, and its traits.  The wire contract (sync-trace/events.h) lists
 * the operations with their fields.  Passes use the traits and have no lists of operations of their
 * own, so a new primitive needs only rows in this table.
 */
#ifndef PP_CORE_OPERATION_H
#define PP_CORE_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "gmon-mt/format.h"
#include "sync-trace/events.h"

enum pp_sync_trait {
	PP_SYNC_DEFINES = 1 << 0,  /* not an operation: defines data for later events */
	PP_SYNC_BEGIN = 1 << 1,	   /* X_begin: the next operation in the list, X, has to wait */
	PP_SYNC_BLOCKS = 1 << 2,   /* X can block; X_begin precedes it in the list */
	PP_SYNC_SPINS = 1 << 3,	   /* the waiter stays on the CPU */
	PP_SYNC_TRIES = 1 << 4,	   /* never waits, but fails instead */
	PP_SYNC_TIMED = 1 << 5,	   /* waits until a timeout at most */
	PP_SYNC_ACQUIRES = 1 << 6, /* acquires its object: pp_sync_acquired() */
	PP_SYNC_SHARED = 1 << 7,   /* ... and other threads may hold it, too */
	PP_SYNC_ROBUST = 1 << 8,   /* ... also from an owner that died (EOWNERDEAD) */
	PP_SYNC_RELEASES = 1 << 9, /* ends a hold */
	PP_SYNC_WAKES = 1 << 10,   /* ends waits of other threads without ending a hold */
	/* Ends waits of other threads unless it waited itself: the last arrival at a barrier. */
	PP_SYNC_PASSES = 1 << 11,
	/* A condition wait: releases its mutex from X_begin to X.  It always has both events. */
	PP_SYNC_YIELDS = 1 << 12,
	PP_SYNC_INITIALIZES = 1 << 13, /* ends the previous object at this address */
	PP_SYNC_DESTROYS = 1 << 14,
	PP_SYNC_RAISES = 1 << 15, /* a signal; value: its number */
};

enum {
#define PP_COUNT_TYPE(name) +1
	PP_N_SYNC_TYPES = 0 GM_SYNC_TYPES(PP_COUNT_TYPE)
#undef PP_COUNT_TYPE
};

/* The type of operations without an object. */
#define PP_SYNC_TYPE_NONE ((enum gm_sync_type)PP_N_SYNC_TYPES)

struct pp_sync_row {
	const char *name;     /* "mutex_lock_begin", ... as in the trace */
	const char *function; /* "pthread_mutex_lock"; NULL: see pp_sync_function() */
	uint16_t traits;      /* enum pp_sync_trait */
	uint8_t type;	      /* of the object: enum gm_sync_type, or PP_SYNC_TYPE_NONE */
};

/* By enum st_event; the last row, ST_N_EVENTS, stands for no operation. */
extern const struct pp_sync_row pp_sync_rows[ST_N_EVENTS + 1];

static inline const struct pp_sync_row *pp_sync_row(enum st_event op)
{
	return &pp_sync_rows[op < ST_N_EVENTS ? op : ST_N_EVENTS];
}

/* True if the operation has one of these traits. */
static inline bool pp_sync_has(enum st_event op, unsigned traits)
{
	return pp_sync_row(op)->traits & traits;
}

/* "mutex_lock_begin", ... as in the trace. */
static inline const char *pp_sync_name(enum st_event op)
{
	return pp_sync_row(op)->name;
}

/*
 * The function that the program called: "pthread_mutex_lock", "sem_wait".  NULL for events that are
 * not calls: site, thread_start, thread_exit (which records every kind of thread end), and failures
 * of calls that have been recorded before.
 */
static inline const char *pp_sync_function(enum st_event op)
{
	return pp_sync_row(op)->function;
}

/* The X of an X_begin, else ST_N_EVENTS. */
static inline enum st_event pp_sync_completion(enum st_event op)
{
	return pp_sync_has(op, PP_SYNC_BEGIN) ? op + 1u : ST_N_EVENTS;
}

/* The X_begin of an X that can block, else ST_N_EVENTS. */
static inline enum st_event pp_sync_begin(enum st_event op)
{
	return pp_sync_has(op, PP_SYNC_BLOCKS) ? op - 1u : ST_N_EVENTS;
}

/* True if the operation, which returned `result`, acquired its object. */
bool pp_sync_acquired(enum st_event op, uint8_t result);

/* The operation that a counter stands for. */
enum st_event pp_sync_counted(enum st_counted counted);

/* The type of the operation's object; PP_SYNC_TYPE_NONE if it has none. */
static inline enum gm_sync_type pp_sync_type(enum st_event op)
{
	return pp_sync_row(op)->type;
}

#define PP_SYNC_TYPES "mutex, cond, sem, barrier, rwlock, spin, once, thread, signal"

/* The name of a type: "mutex", ..., or "unknown". */
const char *pp_sync_type_name(enum gm_sync_type type);

/* True if objects of that type can be held. */
static inline bool pp_sync_type_is_lock(enum gm_sync_type type)
{
	return type == GM_SYNC_TYPE_mutex || type == GM_SYNC_TYPE_rwlock ||
	       type == GM_SYNC_TYPE_spin;
}

/*
 * Names of the types in `bits` (by enum gm_sync_type): "spin, once"; NULL if there are none.  The
 * caller frees it.
 */
char *pp_sync_types_text(unsigned bits);

#endif
