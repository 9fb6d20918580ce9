/* SPDX-License-Identifier: MIT */
/*
 * The schedule of a recorded run (sync-trace/schedule.h): the lock operations of each thread, and
 * the turn of each among the acquisitions of its lock.
 *
 * Threads are numbered by creation: the initial thread, those that it has created, those that the
 * first of these has created, and so on. So a thread has the same number in each run of a program
 * that creates the same threads, and operations are named by (thread, k-th).
 *
 * Waits for semaphores are operations as well, in the order in which they returned.
 *
 * An object is one life of a lock: it ends when a lock is initialized or destroyed at the address.
 */
#ifndef PP_REPLAY_LIVE_SCHEDULE_H
#define PP_REPLAY_LIVE_SCHEDULE_H

#include <glib.h>

#include "core/event.h"
#include "core/namer.h"
#include "sync-trace/schedule.h"

/* The kinds of events that it needs. */
#define PP_SCHEDULE_KINDS PP_EVENT_MASK(PP_EVENT_SYNC)

struct pp_schedule_thread {
	uint32_t creator, nth; /* as in struct st_schedule_thread */
	uint32_t tid, serial;
	bool ended;  /* by itself: it performs no further operation */
	GArray *ops; /* of struct st_schedule_op */
};

struct pp_schedule_site {
	const char *module; /* file name without folder; interned */
	uint64_t offset;
	const char *build_id; /* hexadecimal; interned; NULL: none */
	char *name;	      /* "function (file:line)" */
};

struct pp_schedule {
	GPtrArray *threads; /* of struct pp_schedule_thread *, by number */
	GArray *sites;	    /* of struct pp_schedule_site, by number */
	uint32_t n_objects;
	uint64_t n_ops, n_acquired;
	int64_t longest_gap_ns; /* between two operations of the process */
	int64_t last_ns;	/* time of the last event */
};

struct pp_schedule_builder;

struct pp_schedule_builder *pp_schedule_builder_new(const struct pp_namer *namer);
void pp_schedule_builder_free(struct pp_schedule_builder *builder);
void pp_schedule_builder_event(struct pp_schedule_builder *builder, const struct pp_event *event);

/* The number of the operation of its thread that the last event has ended; UINT64_MAX: none. */
uint64_t pp_schedule_builder_ended(const struct pp_schedule_builder *builder);

/*
 * Returns the schedule, which the caller frees, or NULL: an acquisition has no number, a thread has
 * no known creator, or there is nothing to replay.
 */
struct pp_schedule *pp_schedule_builder_finish(struct pp_schedule_builder *builder,
					       struct pp_error *err);
void pp_schedule_free(struct pp_schedule *schedule);

#endif
