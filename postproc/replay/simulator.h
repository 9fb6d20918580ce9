/* SPDX-License-Identifier: MIT */
/* The state of a simulation, and its parts that simulate.c puts together. */
#ifndef PP_REPLAY_SIMULATOR_H
#define PP_REPLAY_SIMULATOR_H

#include "replay/heap.h"
#include "replay/model.h"

struct pp_simulation;
struct pp_simulated;

#define PP_SIM_NONE UINT32_MAX

/* Tags of events, in their lowest bit. */
enum { PP_SIM_READY, PP_SIM_CPU };

struct pp_sim_runner {
	const struct pp_replay_step *steps;
	uint32_t at;	  /* number of the current step */
	uint64_t left_ns; /* CPU time before its operation */
	uint32_t cpu;	  /* PP_SIM_NONE: it has none */
	uint32_t next;	  /* in the queue of an object */
	bool is_granted;  /* its operation is done when it gets a CPU */
	bool is_spinning; /* in the queue of a lock, on its CPU if it has one */
	/* For a lock: it uses CPU time to block; a release has woken it since. */
	bool is_blocking, is_woken;
	int64_t extra_ns; /* CPU time of its next step, for a release that woke a thread */
	bool is_ended;
	bool is_other;	       /* of another program; it has no steps */
	GArray *missed;	       /* of uint32_t: locks that it has tried for in vain; NULL */
	int64_t wait_since_ns; /* for an object; -1: it does not wait */
	/* In its present step it has waited, and that thread has ended the wait. */
	bool has_waited;
	uint32_t waker;
	guint next_late, next_taken;  /* delays of the model that it has not had yet */
	int64_t blocked_ns, woken_ns; /* when the wait began, and was ended */
};

struct pp_sim_cpu {
	uint32_t runner; /* PP_SIM_NONE: idle */
	int64_t since_ns, slice_begin_ns, slice_end_ns;
	uint32_t tag; /* of its valid event */
};

/* A lock, semaphore or barrier. */
struct pp_sim_object {
	uint32_t owner, depth; /* of a lock; PP_SIM_NONE: it has no exclusive one */
	uint32_t count;	       /* readers; value; arrived */
	int64_t since_ns;
	uint32_t first, last; /* queue of runners; PP_SIM_NONE: empty */
};

struct pp_simulator {
	const struct pp_replay_model *model;
	const struct pp_simulation *how;
	struct pp_simulated *result;
	struct pp_sim_runner *runners;
	struct pp_heap *awaits;	  /* by runner: those that await a step of it, by step */
	struct pp_heap *notified; /* by object: those that wait for its count */
	struct pp_sim_cpu *cpus;
	struct pp_sim_object *objects;
	uint32_t *ready; /* ring of runners */
	/* Threads of the model that run, sleep or are ready; those that spin are among them. */
	uint32_t n_active, n_spinning;
	uint32_t n_runners, n_others, first_ready, n_ready, n_idle, n_left;
	bool has_delays; /* instead of threads of other programs */
	uint32_t actor;	 /* the thread that performs an operation */
	struct pp_heap events;
	int64_t now_ns;
	GRand *random;
};

static inline int64_t pp_sim_quantum(const struct pp_simulator *self)
{
	return MAX(self->model->quantum_ns, 1);
}

/* --- CPUs and the threads that are ready (cpus.c) ------------------------------ */

/* The thread becomes ready at that time, or after the latency of a wake-up in DELAY_NS. */
void pp_sim_ready_at(struct pp_simulator *self, uint32_t number, int64_t ns);
void pp_sim_wake_after(struct pp_simulator *self, uint32_t number, int64_t delay_ns);
void pp_sim_wake(struct pp_simulator *self, uint32_t number);

/* The thread that performs an operation ends the wait of this one. */
void pp_sim_note_waker(struct pp_simulator *self, uint32_t number);

/* The thread is ready: puts it into the queue, and may take a CPU from another one. */
void pp_sim_on_ready(struct pp_simulator *self, uint32_t number);
void pp_sim_push_last(struct pp_simulator *self, uint32_t number);

/* The CPU's next event: the end of the thread's CPU time before its operation, or of its slice. */
void pp_sim_plan(struct pp_simulator *self, uint32_t number);

/* Adds the time since the last call to the CPU time of the CPU's thread. */
void pp_sim_count_time(struct pp_simulator *self, struct pp_sim_cpu *cpu);
void pp_sim_leave_cpu(struct pp_simulator *self, struct pp_sim_runner *runner);

/* --- recorded delays by other programs (delayed.c) ------------------------------------------ */

void pp_sim_begin_delays(struct pp_simulator *self);

/* The delay until the woken thread gets a CPU; the time without one in its present step. */
int64_t pp_sim_late_ns(struct pp_simulator *self, uint32_t number);
int64_t pp_sim_taken_ns(struct pp_simulator *self, uint32_t number);

/* --- locks, semaphores and barriers (objects.c) ------------------------------------ */

/* STAYS: it waits on its CPU, at least for now. */
enum pp_sim_outcome { PP_SIM_DONE, PP_SIM_BLOCKED, PP_SIM_STAYS };

/* Operations of a thread that is at this step. */
enum pp_sim_outcome pp_sim_acquire(struct pp_simulator *self, uint32_t number,
				   const struct pp_replay_step *step);
enum pp_sim_outcome pp_sim_sem_wait(struct pp_simulator *self, uint32_t number,
				    const struct pp_replay_step *step);
enum pp_sim_outcome pp_sim_arrive(struct pp_simulator *self, uint32_t number,
				  const struct pp_replay_step *step);
void pp_sim_sem_post(struct pp_simulator *self, const struct pp_replay_step *step);
void pp_sim_release_lock(struct pp_simulator *self, uint32_t number, uint32_t at);

/* True if all active threads spin, and none of their locks is free. */
bool pp_sim_all_spin(const struct pp_simulator *self);

/* A thread in the queue of a spin lock has a CPU again. Returns true if it takes the lock. */
bool pp_sim_spin_again(struct pp_simulator *self, uint32_t number);

#endif
