/* SPDX-License-Identifier: MIT */
/*
 * The process of a run, and what it shares with the process that observes it.
 */
#ifndef PP_REPLAY_SKELETON_PROCESS_H
#define PP_REPLAY_SKELETON_PROCESS_H

#include <sched.h>

#include "replay/skeleton/gate.h"
#include "replay/skeleton/plan.h"

enum pp_worker_state {
	PP_WORKER_NEW,
	PP_WORKER_RUNS,
	PP_WORKER_SLEEPS,
	PP_WORKER_WAITS, /* for another thread */
	PP_WORKER_ENDED,
};

/* A thread. It writes all but `done`'s count of waiters. */
struct pp_worker {
	_Alignas(64) struct pp_gate done; /* one more than the last awaited step that is done */
	uint32_t at;			  /* the current step */
	uint32_t state;			  /* enum pp_worker_state */
	uint32_t n_changes;		  /* of the state */
};

struct pp_shared {
	int64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	int64_t cpu_ns;
	uint32_t is_finished;
	int error;	 /* an errno: the thread `failed` could not be created */
	uint32_t failed; /* NO_THREAD: the CPUs could not be set */
	uint32_t n_logged;
	struct pp_skeleton_entry *log; /* NULL: none */
	struct pp_gate turn;	       /* of all operations */
	struct pp_gate ended;	       /* 1: the last thread has ended */
	uint32_t n_living;
	struct pp_worker workers[];
};

#define PP_NO_THREAD UINT32_MAX

/* Memory of the process, allocated before it exists; large enough for each kind of object. */
struct pp_process_objects;
struct pp_process_objects *pp_process_objects_new(const struct pp_plan *plan);
void pp_process_objects_free(struct pp_process_objects *objects);

/* Runs all threads in this process, and ends it. */
_Noreturn void pp_process_run(const struct pp_plan *plan, struct pp_process_objects *objects,
			      const cpu_set_t *cpus, struct pp_shared *shared);

#endif
