/* SPDX-License-Identifier: MIT */
/*
 * Replays a model by real threads: a process with a thread for each recorded one, which uses as
 * much CPU time between operations, on real mutexes, read-write locks, spin locks, semaphores and
 * barriers. Sleeps are timed. A wait for a step blocks unless that step has been performed.
 *
 * Each run is a process of its own, which is observed through memory that it shares: it is killed
 * when all its threads wait for each other, when it takes too long, and when this process ends.
 */
#ifndef PP_REPLAY_SKELETON_SKELETON_H
#define PP_REPLAY_SKELETON_SKELETON_H

#include "core/error.h"
#include "replay/skeleton/plan.h"

struct pp_skeleton_how {
	uint32_t n_cpus; /* at most pp_skeleton_usable_cpus() */
	enum pp_skeleton_order order;
	int64_t limit_ns; /* of a run; 0: ten times what the model's times suggest */
	bool has_log;
};

struct pp_skeleton_run {
	int64_t ns;	   /* the run time */
	int64_t cpu_ns;	   /* used by all threads, from its begin to its end */
	int64_t others_ns; /* CPU time of other programs on its CPUs; -1: not known */
	/* Threads that wait for ever, and a text that tells for what; NULL: none. */
	uint32_t n_stuck;
	char *stuck;
	GArray *log; /* of struct pp_skeleton_entry: all steps but sleeps, with has_log */
};

struct pp_skeleton;

/* The number of CPUs that this process can use. */
uint32_t pp_skeleton_usable_cpus(void);

/*
 * Prepares runs of a model that is valid (pp_replay_check()) and outlives them. Returns NULL after
 * an error: too many CPUs, or the model has no order, or one that no run can have.
 */
struct pp_skeleton *pp_skeleton_new(const struct pp_replay_model *model,
				    const struct pp_skeleton_how *how, struct pp_error *err);
void pp_skeleton_free(struct pp_skeleton *skeleton);

/* Runs it. Returns 0, also if threads are stuck, or -errno; -ETIME: it took too long. */
int pp_skeleton_run(struct pp_skeleton *skeleton, struct pp_skeleton_run *ret,
		    struct pp_error *err);

void pp_skeleton_run_done(struct pp_skeleton_run *run);

#endif
