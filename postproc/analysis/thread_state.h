/* SPDX-License-Identifier: MIT */
/*
 * What each thread does at each instant: one state machine a thread, fed with every event in time
 * order.  Passes listen for the three things that come out: intervals of one mode, operations that
 * begin to wait, operations that are over.
 *
 * Modes come from the scheduler's events; the synchronization object that a thread is blocked on
 * comes from the operation it is in (between X_begin and X).  Without scheduling events a thread is
 * blocked from X_begin to X, and what it does otherwise is not known.
 *
 * Intervals of a thread are contiguous, so their sum is its lifetime, exactly.  Where events are
 * lost or contradict each other the time in doubt has the mode PP_MODE_UNKNOWN.
 */
#ifndef PP_ANALYSIS_THREAD_STATE_H
#define PP_ANALYSIS_THREAD_STATE_H

#include "core/event.h"
#include "core/model.h"
#include "analysis/anomaly.h"
#include "analysis/pass.h"

enum pp_mode {
	PP_MODE_UNKNOWN,
	PP_MODE_RUNNING,      /* on a CPU */
	PP_MODE_RUNNABLE,     /* new, preempted or woken, and not yet on a CPU */
	PP_MODE_BLOCKED_SYNC, /* asleep inside a synchronization operation */
	/* asleep, uninterruptible: block I/O, page faults; or reading or writing, if it is known */
	PP_MODE_BLOCKED_IO,
	PP_MODE_BLOCKED_OTHER, /* asleep otherwise: sleep(), poll(), ... */
	PP_N_MODES
};

/* The kinds that the state machine must see. */
#define PP_THREAD_STATE_KINDS                                                                      \
	((((1u << (PP_EVENT_LOST + 1)) - 1) & ~PP_CALL_KINDS) |                                    \
	 PP_EVENT_MASK(PP_EVENT_SYSCALL_ENTRY) | PP_EVENT_MASK(PP_EVENT_SYSCALL_EXIT))

/* A synchronization operation; borrowed, valid during the call. */
struct pp_operation {
	const struct pp_thread *thread;
	enum st_event op; /* X, never X_begin */
	uint8_t result;	  /* means something where `finished` */
	uint32_t holder;  /* tid of the owner, as X_begin had it; 0: not known */
	uint64_t object, site, value;
	uint64_t object_era, value_era; /* core/event.h */
	const struct pp_path *path;	/* to the site; NULL: not known */
	bool waited;			/* there was an X_begin: it found the object taken */
	bool finished;			/* false: it never returned, or nobody saw it return */
	bool descheduled;		/* gave up the CPU inside, of its own accord */
	int64_t begin_ns;		/* of the wait; == end_ns where it did not wait */
	int64_t end_ns;			/* == begin_ns where nobody knows how long it waited */
	int64_t blocked_ns;		/* asleep inside */
};

struct pp_interval {
	const struct pp_thread *thread;
	enum pp_mode mode;
	int cpu; /* RUNNING: where; PP_CPU_UNKNOWN */
	int64_t start_ns, end_ns;
	const struct pp_operation *operation; /* the innermost it was waiting in; NULL: none */
	const struct pp_thread *waker;	      /* RUNNABLE: who woke it; NULL: none, or not ours */
};

struct pp_thread_listener {
	void *data;
	void (*interval)(void *data, const struct pp_interval *interval);
	/* The operation has to wait; not over yet: result, end_ns, blocked_ns mean nothing. */
	void (*begin)(void *data, const struct pp_operation *operation);
	/* Every operation once, when it returned; at its thread's end if it never did. */
	void (*operation)(void *data, const struct pp_operation *operation);
	/* Synch-events of the thread were lost: whatever it held or waited for is not known. */
	void (*lost)(void *data, const struct pp_thread *thread);
};

/* Operations nest only through signal handlers. */
#define PP_OPERATION_DEPTH 4

struct pp_thread_state {
	const struct pp_thread *thread;
	enum pp_mode mode;
	bool begun, over, scheduled; /* scheduled: at least one scheduling event told of it */
	int cpu;
	int64_t start_ns, end_ns; /* of the life so far */
	int64_t since_ns;	  /* of the mode */
	int64_t last_ns;	  /* of its last event */
	const struct pp_thread *waker;
	const char *syscall; /* that it is in; NULL: none, or they are not recorded */
	bool woken_early;    /* the wake-up came before the switch that it undid */
	unsigned depth;	     /* of operations[] */
	struct pp_operation operations[PP_OPERATION_DEPTH];
	/* Within the time that is selected: */
	int64_t total_ns[PP_N_MODES];
	uint64_t activities; /* times it went on a CPU */
	uint64_t voluntary, involuntary;
};

struct pp_thread_states;

/* listener and anomalies may be NULL; both are borrowed. */
struct pp_thread_states *pp_thread_states_new(const struct pp_pass_context *context,
					      const struct pp_thread_listener *listener,
					      struct pp_anomalies *anomalies);
void pp_thread_states_free(struct pp_thread_states *states);

void pp_thread_states_event(struct pp_thread_states *states, const struct pp_event *event);

/* Ends every life that is not over yet.  end_ns: time of the last event of the capture. */
void pp_thread_states_finish(struct pp_thread_states *states, int64_t end_ns);

/* NULL: nothing is known of that thread. */
const struct pp_thread_state *pp_thread_state(const struct pp_thread_states *states,
					      const struct pp_thread *thread);

/* The innermost operation that the thread is waiting in; NULL: none. */
const struct pp_operation *pp_thread_operation(const struct pp_thread_states *states,
					       const struct pp_thread *thread);

/* Did the operation block its thread?  Descheduled inside it, or without scheduling events: it
 * found the object taken. */
bool pp_operation_blocked(const struct pp_thread_states *states,
			  const struct pp_operation *operation);

/* False: there are scheduling events, but none tells of this thread.  After finish. */
bool pp_thread_blocking_known(const struct pp_thread_states *states,
			      const struct pp_thread *thread);

/* The first thread of the program that the thread's exec brought then; NULL: it is not known. */
const struct pp_thread *pp_exec_successor(const struct pp_model *model,
					  const struct pp_thread *thread, int64_t exec_ns);

/* Did a switch with that prev_state leave the thread able to go on? */
bool pp_state_preempted(int64_t prev_state);

/* Was it the thread's last? */
bool pp_state_dead(int64_t prev_state);

#endif
