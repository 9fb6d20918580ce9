/* SPDX-License-Identifier: MIT */
/*
 * What is true of each synchronization operation, in one const table: the type of its object, the
 * function that the program called, and its traits.  The wire contract (sync-trace/events.h) lists
 * the operations with their fields; whatever else a pass has to know of one is a trait here, so a
 * new primitive is a few rows of the table, and no pass has a list of operations of its own.
 */
#ifndef PP_CORE_OPERATION_H
#define PP_CORE_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "gmon-mt/format.h"
#include "sync-trace/events.h"

enum pp_sync_trait {
	PP_SYNC_DEFINES = 1 << 0,  /* no operation: defines what later events refer to */
	PP_SYNC_BEGIN = 1 << 1,	   /* X_begin: the next in the list, X, has to wait */
	PP_SYNC_BLOCKS = 1 << 2,   /* X that can block; then X_begin, before it in the list */
	PP_SYNC_SPINS = 1 << 3,	   /* its waiter stays on the CPU */
	PP_SYNC_TRIES = 1 << 4,	   /* never waits, and fails where others would */
	PP_SYNC_TIMED = 1 << 5,	   /* waits no longer than until a time */
	PP_SYNC_ACQUIRES = 1 << 6, /* acquires its object: pp_sync_acquired() */
	PP_SYNC_SHARED = 1 << 7,   /* ... and others may hold it, too */
	PP_SYNC_ROBUST = 1 << 8,   /* ... also of an owner that died (EOWNERDEAD) */
	PP_SYNC_RELEASES = 1 << 9, /* ends a hold */
	PP_SYNC_WAKES = 1 << 10,   /* ends the waits of others without ending a hold */
	/* Ends the waits of others unless it waited itself: the last to arrive at a barrier. */
	PP_SYNC_PASSES = 1 << 11,
	/* A condition wait: its mutex is released from X_begin to X; it always has both. */
	PP_SYNC_YIELDS = 1 << 12,
	PP_SYNC_INITIALIZES = 1 << 13, /* the object that was at the address before has ended */
	PP_SYNC_DESTROYS = 1 << 14,
	PP_SYNC_RAISES = 1 << 15, /* a signal; value: its number */
};

enum {
#define PP_COUNT_TYPE(name) +1
	PP_N_SYNC_TYPES = 0 GM_SYNC_TYPES(PP_COUNT_TYPE)
#undef PP_COUNT_TYPE
};

/* A type of object that is none. */
#define PP_SYNC_TYPE_NONE ((enum gm_sync_type)PP_N_SYNC_TYPES)

struct pp_sync_row {
	const char *name;     /* "mutex_lock_begin", ... as in the trace */
	const char *function; /* "pthread_mutex_lock"; NULL: see pp_sync_function() */
	uint16_t traits;      /* enum pp_sync_trait */
	uint8_t type;	      /* of the object: enum gm_sync_type, or PP_SYNC_TYPE_NONE */
};

/* By enum st_event; the last row is that of no operation. */
extern const struct pp_sync_row pp_sync_rows[ST_N_EVENTS + 1];

static inline const struct pp_sync_row *pp_sync_row(enum st_event op)
{
	return &pp_sync_rows[op < ST_N_EVENTS ? op : ST_N_EVENTS];
}

/* Has the operation one of these traits? */
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
 * The function the program called: "pthread_mutex_lock", "sem_wait".  NULL for what is no call:
 * site, thread_start, and thread_exit, which stands for a thread's end however it ended; and for
 * the failures of calls that were told of before.
 */
static inline const char *pp_sync_function(enum st_event op)
{
	return pp_sync_row(op)->function;
}

/* For X_begin the X it belongs to, else ST_N_EVENTS. */
static inline enum st_event pp_sync_completion(enum st_event op)
{
	return pp_sync_has(op, PP_SYNC_BEGIN) ? op + 1u : ST_N_EVENTS;
}

/* For an X that can have an X_begin, that; else ST_N_EVENTS.  A call that can block. */
static inline enum st_event pp_sync_begin(enum st_event op)
{
	return pp_sync_has(op, PP_SYNC_BLOCKS) ? op - 1u : ST_N_EVENTS;
}

/* Did the operation, which returned `result`, acquire its object? */
bool pp_sync_acquired(enum st_event op, uint8_t result);

/* The operation that a place in a row of counts is of. */
enum st_event pp_sync_counted(enum st_counted counted);

/* Of its object; PP_SYNC_TYPE_NONE: it has none. */
static inline enum gm_sync_type pp_sync_type(enum st_event op)
{
	return pp_sync_row(op)->type;
}

#define PP_SYNC_TYPES "mutex, cond, sem, barrier, rwlock, spin, once, thread, signal"

/* One of those; "unknown". */
const char *pp_sync_type_name(enum gm_sync_type type);

/* Can objects of that type be held? */
static inline bool pp_sync_type_is_lock(enum gm_sync_type type)
{
	return type == GM_SYNC_TYPE_mutex || type == GM_SYNC_TYPE_rwlock ||
	       type == GM_SYNC_TYPE_spin;
}

/* "spin, once", of bits by enum gm_sync_type.  NULL: none.  The caller frees it. */
char *pp_sync_types_text(unsigned bits);

#endif
