/* SPDX-License-Identifier: MIT */
/*
 * The model of a run, from which it is replayed: what each thread did, and for how long.
 *
 * A thread is a list of steps. Each step begins with CPU time of the thread, and ends with an
 * operation. Mutexes, read-write locks and spin locks are objects with their own rules, and so are
 * semaphores and barriers. A condition wait lasts until the condition has been notified as often as
 * it had been when the wait ended in the recorded run, by any thread. Any other wait is for a step
 * of another thread, the one that ended it when the run was recorded: a join for the thread's last
 * step. If that has already happened in the replay, the wait does not block, as a program that
 * checks its condition first would not.
 *
 * A try for a lock that succeeded never waits in the replay either: if the lock is taken, the
 * thread does the same without it. Programs try for a lock where waiting for it could block them
 * for ever.
 *
 * Times are in ns.
 */
#ifndef PP_REPLAY_MODEL_H
#define PP_REPLAY_MODEL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/contention/contention.h"

enum pp_replay_kind {
	PP_REPLAY_LOCK,	     /* acquires the object: a lock, exclusively */
	PP_REPLAY_LOCK_SPIN, /* ... and stays on the CPU while it waits */
	PP_REPLAY_RDLOCK,    /* ... with other readers */
	PP_REPLAY_UNLOCK,    /* releases it */
	PP_REPLAY_SEM_WAIT,
	PP_REPLAY_SEM_POST,
	PP_REPLAY_BARRIER,  /* passes when as many threads as the object's count have arrived */
	PP_REPLAY_AWAIT,    /* waits until the step `of` has been replayed */
	PP_REPLAY_SLEEP,    /* leaves the CPU for a time: I/O, sleep, a wait that timed out */
	PP_REPLAY_CREATE,   /* starts a thread */
	PP_REPLAY_EXIT,	    /* the last step of a thread */
	PP_REPLAY_SIGNAL,   /* does nothing; others await it */
	PP_REPLAY_NOTIFY,   /* signals the object, a condition */
	PP_REPLAY_NOTIFIED, /* waits until the object has been notified so often */
	PP_REPLAY_N_KINDS
};

/* "lock", ... as in the file. */
const char *pp_replay_kind_name(enum pp_replay_kind kind);

/* True for LOCK, LOCK_SPIN and RDLOCK. */
static inline bool pp_replay_acquires(enum pp_replay_kind kind)
{
	return kind <= PP_REPLAY_RDLOCK;
}

#define PP_REPLAY_NO_SITE 0u
#define PP_REPLAY_NO_RANK 0u

/* Limits of a model (pp_replay_check()). */
#define PP_REPLAY_LONGEST_NS	  (UINT64_C(1) << 50) /* the sum of all times: 13 days */
#define PP_REPLAY_LONGEST_WAKE_NS 1000000000
#define PP_REPLAY_MOST_WAKES	  32u
#define PP_REPLAY_MOST_OTHERS	  1000000u
#define PP_REPLAY_MOST_TURNS	  1000000000u
#define PP_REPLAY_MOST_SITES	  ((1u << 24) - 1)

struct pp_replay_step {
	uint64_t cpu_ns; /* before the operation */
	union {
		uint32_t object; /* number */
		uint32_t thread; /* created */
		uint64_t sleep_ns;
		struct {
			uint32_t thread, step;
		} of; /* awaited */
		struct {
			uint32_t object, count;
		} notified; /* `object` is also the one above */
	};
	uint32_t site : 24;   /* number of the call site; PP_REPLAY_NO_SITE */
	uint32_t kind : 6;    /* enum pp_replay_kind */
	uint32_t tries : 1;   /* of a lock: goes on without it if it is taken */
	uint32_t awaited : 1; /* by an AWAIT */
	/*
	 * In the order of all steps of the recorded run, from 1. PP_REPLAY_NO_RANK: directly after
	 * the thread's step before.
	 */
	uint32_t rank;
};
_Static_assert(sizeof(struct pp_replay_step) == 24, "10 M operations take 240 MB");

struct pp_replay_thread {
	char *name;
	/* With a creator, the thread begins when it is created; otherwise at this time. */
	bool has_creator;
	int64_t start_ns; /* since the begin of the run */
	GArray *steps;	  /* of struct pp_replay_step; the last one is an EXIT */
};

enum pp_replay_object_kind {
	PP_REPLAY_OBJECT_LOCK,
	PP_REPLAY_OBJECT_SEM,
	PP_REPLAY_OBJECT_BARRIER,
	PP_REPLAY_OBJECT_COND,
	PP_REPLAY_N_OBJECT_KINDS
};

struct pp_replay_object {
	char *name;
	enum pp_replay_object_kind kind;
	/* Of a semaphore: initial value; of a barrier: threads; of a lock: 0, or PP_REPLAY_ENDS. */
	uint32_t count;
};

/*
 * A lock that ends at its first release: nobody takes it afterwards. Only skeletons do this; for
 * the simulation and in files it is a lock.
 */
#define PP_REPLAY_ENDS 1u

/* Call sites of sections are numbered from 1; this is CPU time outside of sections. */
#define PP_REPLAY_OUTSIDE UINT32_MAX

/* CPU time in a function and those that it calls, of all CPU time there; by samples. */
struct pp_replay_share {
	char *function;
	uint32_t site; /* that entered the innermost section; PP_REPLAY_OUTSIDE */
	uint64_t in_ns, all_ns;
};

/* A function whose calls are known; parts of the CPU time are known for all of them. */
struct pp_replay_function {
	char *name; /* or a pattern of names */
	uint64_t n_calls;
};

/* The part of a step's CPU time in a function and those that it calls: 0 to 1. */
struct pp_replay_function_part {
	uint32_t thread, step;
	uint32_t function; /* number */
	double share;
};

/* In a step, other programs kept the thread from a CPU. */
struct pp_replay_delay {
	uint32_t thread, step;
	int64_t ns;
	bool is_late; /* after a wait in the step had ended */
};

/*
 * The data that the section of an acquisition works on. Sections of a lock with the same unit share
 * data that one of them writes; PP_REPLAY_NO_UNIT: it shares none.
 */
#define PP_REPLAY_NO_UNIT 0u
struct pp_replay_access {
	uint32_t thread, step;
	uint32_t unit;
	bool writes; /* shared data */
	/*
	 * The part of the section from the first to the last access that conflicts with another
	 * section, by their numbers among all of its accesses: 0 to 1; equal: there is none.
	 */
	bool has_span; /* it is known */
	double from, to;
};

struct pp_replay_model {
	GPtrArray *threads; /* of struct pp_replay_thread *, by number */
	GPtrArray *objects; /* of struct pp_replay_object *, by number */
	GPtrArray *sites;   /* of char *, by number - 1 */
	GArray *shares;	    /* of struct pp_replay_share; only of functions that were asked for */
	GArray *functions;  /* of struct pp_replay_function, by number; only those asked for */
	GArray *parts;	    /* of struct pp_replay_function_part, by thread and step */
	GArray *accesses; /* of struct pp_replay_access, by thread and step; those that are known */
	uint32_t n_cpus;
	int64_t recorded_ns; /* run time of the recorded run */
	int64_t quantum_ns;  /* CPU time after which another thread gets the CPU */
	/*
	 * From a wake-up until the thread is ready: quantiles at equal distances, which do not
	 * fall. One value: any time from half of it to one and a half.
	 */
	int64_t wake_ns[PP_REPLAY_MOST_WAKES];
	uint32_t n_wakes;
	GArray *delays; /* of struct pp_replay_delay, by thread and step */
	/* Threads of other programs that wanted a CPU in the recorded run, in thousandths. */
	uint32_t others;
	struct pp_contention_costs costs;
	int64_t recording_ns; /* of an operation: its part of the steps' CPU time (recording.h) */
};

struct pp_replay_model *pp_replay_model_new(void);
struct pp_replay_model *pp_replay_model_copy(const struct pp_replay_model *model);
void pp_replay_model_free(struct pp_replay_model *model);

struct pp_replay_thread *pp_replay_add_thread(struct pp_replay_model *model, const char *name);
uint32_t pp_replay_add_object(struct pp_replay_model *model, enum pp_replay_object_kind kind,
			      uint32_t count, const char *name);
uint32_t pp_replay_add_site(struct pp_replay_model *model, const char *name);

/* One value for all wake-ups; the longest time that one can take. */
void pp_replay_set_wake(struct pp_replay_model *model, int64_t ns);
int64_t pp_replay_longest_wake(const struct pp_replay_model *model);

/* Adds to the share of the function at that place. */
void pp_replay_add_share(struct pp_replay_model *model, const char *function, uint32_t site,
			 uint64_t in_ns, uint64_t all_ns);

void pp_replay_add_function(struct pp_replay_model *model, const char *name, uint64_t n_calls);

/* To be called when parts have been added; then, the first one of that step, or behind it. */
void pp_replay_sort_parts(struct pp_replay_model *model);
guint pp_replay_find_part(const struct pp_replay_model *model, uint32_t thread, uint32_t step);

/* The same for delays. */
void pp_replay_sort_delays(struct pp_replay_model *model);
guint pp_replay_find_delay(const struct pp_replay_model *model, uint32_t thread, uint32_t step);

/* The access of an acquisition; NULL: it is not known. */
const struct pp_replay_access *pp_replay_find_access(const struct pp_replay_model *model,
						     uint32_t thread, uint32_t step);

/* The number of steps of all threads. */
uint64_t pp_replay_n_steps(const struct pp_replay_model *model);

/*
 * Checks all numbers in the model, and marks the steps that are awaited. Returns NULL, or a line
 * that says what is wrong; the caller frees it.
 */
char *pp_replay_check(struct pp_replay_model *model);

#endif
