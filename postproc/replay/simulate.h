/* SPDX-License-Identifier: MIT */
/*
 * Replays a model on simulated CPUs, as discrete events.
 *
 * Each CPU runs one thread; the others wait in a queue. A thread loses its CPU when it blocks, or
 * after a quantum if others are ready; it then goes to the queue's end. A thread that is woken
 * becomes ready after the wake-up latency, a random one of those that were recorded. It goes to the
 * queue's front, and gets the CPU of the thread that has had its own for longest, if that is a
 * third of a quantum: Linux prefers threads that have slept.
 *
 * If the run is to be replayed beside other programs, threads have no CPU where they had none in
 * the recorded run (struct pp_replay_delay): behind the CPU time of a step, or after a wake-up; a
 * wake-up that the replay does not have is made up for by the thread's next one. A model without
 * delays has threads of other programs instead, which always want a CPU; for a part of one, one
 * does for so much of the time.
 *
 * A mutex is glibc's: its release wakes the thread that has waited longest, which then tries again;
 * until it runs, any other thread can take the lock (barging). With `fair`, a release hands the
 * lock over. What an operation cost is in the recorded CPU time; only blocking for a lock, trying
 * again, and a release that wakes a thread take CPU time of their own (struct pp_contention_costs).
 *
 * The work is proportional to the number of steps, times the logarithm of that of threads.
 */
#ifndef PP_REPLAY_SIMULATE_H
#define PP_REPLAY_SIMULATE_H

#include "replay/model.h"

struct pp_simulation {
	uint32_t n_cpus;
	/* Threads of other programs that want a CPU, in thousandths; 0: no delays either. */
	uint32_t others;
	bool fair;
	uint32_t seed;		       /* of the random factors */
	struct pp_simulation_log *log; /* filled for path.h; NULL: not wanted */
};

/* A step that waited, and the thread that ended the wait at that time; PP_SIMULATED_NONE: none. */
#define PP_SIMULATED_NONE UINT32_MAX
struct pp_simulated_wait {
	uint32_t step, waker;
	int64_t since_ns; /* when it began */
	int64_t woken_ns;
};

struct pp_simulated_thread {
	GArray *done_ns; /* of int64_t, by step: when it was done */
	GArray *waits;	 /* of struct pp_simulated_wait, by step */
	uint32_t creator;
	int64_t start_ns; /* when it was created */
};

/* When each step of a simulated run was done, and what it waited for. */
struct pp_simulation_log {
	uint32_t n_threads;
	struct pp_simulated_thread *threads;
};

struct pp_simulated_object {
	int64_t wait_ns, hold_ns; /* hold_ns: exclusive */
	uint64_t n_waits;
};

struct pp_simulated {
	int64_t ns;	 /* the run time */
	int64_t cpu_ns;	 /* used, by waiting for spin locks, too */
	GArray *objects; /* of struct pp_simulated_object, by number */
	uint64_t n_events;
	/* Threads that wait for ever: the model lacks what would wake them. `ns` is until then. */
	uint32_t n_stuck;
};

/* The model is valid (pp_replay_check()). */
void pp_simulate(const struct pp_replay_model *model, const struct pp_simulation *how,
		 struct pp_simulated *ret);

void pp_simulated_done(struct pp_simulated *simulated);
void pp_simulation_log_done(struct pp_simulation_log *log);

#endif
