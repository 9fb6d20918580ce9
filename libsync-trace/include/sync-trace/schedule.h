/* SPDX-License-Identifier: MIT */
/*
 * The format of a schedule: the order in which a program takes its locks when it is replayed
 * (`gprof-mt replay --engine=live`).
 *
 * The command makes the file from a capture and names it in ST_SCHEDULE_VARIABLE. The first process
 * that finds it there takes it: it reads the file, removes it, and from then on enforces the order.
 * Both keep the first page in memory, where the process stores the outcome.
 *
 * Behind the first page follow, each aligned to 8 bytes: the threads, the operations of the first
 * thread, of the second, and so on; the sites; the modules.
 *
 * Threads are numbered from 0, the initial thread. Any other one is the `nth` (from 0) that its
 * creator has created. A thread's operations are its calls of the functions below, in order:
 * mutexes (lock, trylock, timed), read-write locks, spin locks, waits for semaphores, and condition
 * waits, which are operations on their mutexes.
 *
 * An operation that acquires its object has a turn: the number of acquisitions of the object that
 * come before it. Readers between two writers have the same turn. An object is one life of a lock;
 * its address is not part of the schedule.
 *
 * A schedule may end with a *pair*: two sections of one lock, in different threads, of which either
 * can be executed first. Then it lists for each thread only the operations that come before both
 * sections in any order, and for the two threads also that which begins the section. The process
 * executes all of these, then one section, then the other one, while no other operation begins, and
 * computes digests of the listed bytes. After that it goes on without an order.
 */
#ifndef ST_SCHEDULE_H
#define ST_SCHEDULE_H

#include <stdint.h>

#include "sync-trace/events.h"

#define ST_SCHEDULE_VARIABLE   "GPROF_MT_SCHEDULE"
#define ST_SCHEDULE_MAGIC      "GMTSCHED"
#define ST_SCHEDULE_VERSION    2u
#define ST_SCHEDULE_PAGE_BYTES 4096u
#define ST_SCHEDULE_MOST_BYTES (UINT64_C(1) << 34)

#define ST_SCHEDULE_PATIENCE_MOST_NS UINT64_C(3600000000000)

/* Numbers in the file beyond all others. */
#define ST_TURN_NONE	  UINT32_MAX /* acquires nothing, or never returned */
#define ST_SCHEDULE_NONE  UINT32_MAX /* no creator, no site */
#define ST_SCHEDULE_NO_OP UINT64_MAX

enum st_schedule_state {
	ST_SCHEDULE_UNUSED, /* no process has taken it */
	ST_SCHEDULE_KEPT,   /* taken, and kept so far */
	ST_SCHEDULE_LEFT,   /* the program did something else: `why`, and the place */
	ST_SCHEDULE_PAIRED, /* the pair was executed: the digests are valid */
};

enum st_schedule_why {
	ST_LEFT_OTHER,	 /* another operation, or from another call site */
	ST_LEFT_MORE,	 /* an operation beyond the thread's last one */
	ST_LEFT_FEWER,	 /* the thread has ended before its next operation */
	ST_LEFT_THREAD,	 /* a thread that was not recorded was created */
	ST_LEFT_STUCK,	 /* no thread has got a turn for patience_ns */
	ST_LEFT_RESULT,	 /* the lock could not be acquired, or its owner had died */
	ST_LEFT_DAMAGED, /* a number of the schedule is out of range */
	ST_N_LEFT_WHYS
};

/* Written by the process; `state` last. */
struct st_schedule_outcome {
	uint32_t state; /* enum st_schedule_state */
	uint32_t why;	/* enum st_schedule_why; like the next ones, of ST_SCHEDULE_LEFT */
	uint32_t thread;
	uint32_t event; /* enum st_event of the operation; ST_N_EVENTS: none */
	uint64_t op;	/* of that thread, from 0 */
	uint64_t site;	/* return address of the operation; 0: not known */
	uint32_t pid;
	uint32_t unused;
};
_Static_assert(sizeof(struct st_schedule_outcome) == 40, "on-disk size");

/* The pair; `is_set` is 0 if the schedule has none, or 1. */
struct st_schedule_pair {
	uint32_t is_set;
	uint32_t first, second; /* threads, in the order in which they execute their sections */
	uint32_t n_before;	/* acquisitions of the lock in the schedule, beside these two */
	uint32_t n_lines, unused;
};
_Static_assert(sizeof(struct st_schedule_pair) == 24, "on-disk size");

/* Digests of bytes in memory; written by the process. */
struct st_schedule_digests {
	/*
	 * Bytes that both sections access: before the first section, at its end, and at the end of
	 * the second one. A section ends just before it releases the lock.
	 */
	uint64_t before, between, after;
	/* Bytes that one section alone writes, at its end. */
	uint64_t of_first, of_second;
	uint64_t n_unread; /* lines that could not be found or read */
};
_Static_assert(sizeof(struct st_schedule_digests) == 48, "on-disk size");

struct st_schedule {
	char magic[8];
	uint32_t version;
	uint32_t n_events; /* ST_N_EVENTS: of the same gprof-mt */
	uint64_t file_bytes;
	uint32_t n_threads, n_objects, n_sites, n_modules;
	uint64_t n_ops;
	uint64_t
	    patience_ns; /* longest time without any turn, ST_SCHEDULE_PATIENCE_MOST_NS at most */
	struct st_schedule_outcome outcome;
	struct st_schedule_pair pair;
	struct st_schedule_digests digests;
};
_Static_assert(sizeof(struct st_schedule) == 168, "on-disk size");

struct st_schedule_thread {
	uint32_t creator; /* number of a thread before it; ST_SCHEDULE_NONE: the initial thread */
	uint32_t nth;
	uint64_t first_op, n_ops;
	uint32_t ended; /* 1: it ended by itself; 0: the process ended first */
	uint32_t unused;
};
_Static_assert(sizeof(struct st_schedule_thread) == 32, "on-disk size");

struct st_schedule_op {
	uint32_t object, turn;
	uint32_t site;	/* ST_SCHEDULE_NONE: not known */
	uint8_t event;	/* enum st_event, of the end of the operation */
	uint8_t result; /* as in the event; ST_SCHEDULE_ENDLESS: it did not return */
	uint16_t unused;
};
_Static_assert(sizeof(struct st_schedule_op) == 16, "on-disk size");

#define ST_SCHEDULE_ENDLESS 254u

/* A return address: the offset from the module's load bias. */
struct st_schedule_site {
	uint32_t module, unused;
	uint64_t offset;
};
_Static_assert(sizeof(struct st_schedule_site) == 16, "on-disk size");

#define ST_MODULE_NAME_BYTES 112u

struct st_schedule_module {
	char name[ST_MODULE_NAME_BYTES]; /* file name without folder, ends with 0 */
};

/* Bytes of a cache line of which a digest is wanted. */
struct st_schedule_line {
	uint64_t
	    offset;	/* of the line, from the module's load bias; without a module, an address */
	uint64_t bytes; /* bit i: the byte at offset + i */
	uint32_t module; /* ST_SCHEDULE_NONE: none */
	uint32_t thread; /* whose section alone writes them; ST_SCHEDULE_NONE: bytes of both */
};
_Static_assert(sizeof(struct st_schedule_line) == 24, "on-disk size");

#endif
