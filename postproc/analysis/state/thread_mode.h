/* SPDX-License-Identifier: MIT */
/*
 * The mode of a thread, and what a change of it means: an interval ends, which adds to the sums of
 * the thread, and the listener is told.  thread_state.c decides when the mode changes to what.
 */
#ifndef PP_ANALYSIS_STATE_THREAD_MODE_H
#define PP_ANALYSIS_STATE_THREAD_MODE_H

#include "analysis/operation_stack.h"
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
	struct pp_operation_stack operations;
	/* Within the time that is selected: */
	int64_t total_ns[PP_N_MODES];
	uint64_t activities; /* times it went on a CPU */
	uint64_t voluntary, involuntary;
};

/* What is the same for all threads of a state machine; borrowed. */
struct pp_mode_observer {
	const struct pp_pass_context *context;
	const struct pp_thread_listener *listener;
};

/* The time since the last change, up to until_ns, was spent in `mode`. */
void pp_mode_close(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		   int64_t until_ns, enum pp_mode mode);

/* From the last close on. */
void pp_mode_enter(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		   enum pp_mode mode);

/* Both: the time until now_ns was spent in the mode that the thread had. */
void pp_mode_change(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		    int64_t now_ns, enum pp_mode mode);

/* Did a switch with that prev_state leave the thread able to go on? */
bool pp_state_preempted(int64_t prev_state);

/* Was it the thread's last? */
bool pp_state_dead(int64_t prev_state);

/* That of a thread which a switch with this prev_state has taken off its CPU; not preempted. */
enum pp_mode pp_mode_asleep(const struct pp_thread_state *self, int64_t prev_state);

#endif
