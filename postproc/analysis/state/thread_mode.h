/* SPDX-License-Identifier: MIT */
/*
 * The mode of a thread, and the effects of a change: an interval ends, is added to the sums of the
 * thread, and is reported to the listener. thread_state.c decides when the mode changes.
 */
#ifndef PP_ANALYSIS_STATE_THREAD_MODE_H
#define PP_ANALYSIS_STATE_THREAD_MODE_H

#include "analysis/operation_stack.h"
#include "analysis/pass.h"

enum pp_mode {
	PP_MODE_UNKNOWN,
	PP_MODE_RUNNING,      /* on a CPU */
	PP_MODE_RUNNABLE,     /* new, preempted or woken, and not yet on a CPU */
	PP_MODE_BLOCKED_SYNC, /* blocked in a synchronization operation */
	/* uninterruptible (block I/O, page faults), or in a call known to read or write */
	PP_MODE_BLOCKED_IO,
	PP_MODE_BLOCKED_OTHER, /* blocked otherwise: sleep(), poll(), ... */
	PP_N_MODES
};

/* A blocking call (core/io_call.h).  Listeners borrow it during the call. */
struct pp_io {
	const struct pp_thread *thread;
	enum st_io_call call;
	uint8_t error;		    /* valid if `finished`; 0: none */
	int fd;			    /* -1: none, or several */
	uint64_t object;	    /* sync-trace/calls.h: enum st_io_object */
	uint64_t site;		    /* 0: not known */
	const struct pp_path *path; /* to the site; NULL: not known */
	bool finished;		    /* false: the thread, or the capture, ended within it */
	bool blocked_known;	    /* false: the next two are unknown */
	int64_t blocked_ns;	    /* selected time in it in which the thread was blocked */
	int64_t runnable_ns;	    /* ... and in which it was ready without a CPU */
	int64_t begin_ns, end_ns;
};

struct pp_interval {
	const struct pp_thread *thread;
	enum pp_mode mode;
	int cpu; /* RUNNING: its CPU; PP_CPU_UNKNOWN */
	int64_t start_ns, end_ns;
	const struct pp_operation *operation; /* the innermost operation; NULL: none */
	const struct pp_io *io;		      /* the blocking call, if it is in that; NULL */
	/* RUNNABLE: the waker; NULL: none, or outside the capture */
	const struct pp_thread *waker;
};

struct pp_thread_listener {
	void *data;
	void (*interval)(void *data, const struct pp_interval *interval);
	/* The operation has to wait.  Its result, end_ns and blocked_ns are not set yet. */
	void (*begin)(void *data, const struct pp_operation *operation);
	/* Called once for each operation: at its return, or at the thread's end. */
	void (*operation)(void *data, const struct pp_operation *operation);
	/* A blocking call begins; what is known only at its end is not set yet. */
	void (*io_begin)(void *data, const struct pp_io *io);
	/* Called once for each recorded blocking call: at its return, or at the thread's end. */
	void (*io)(void *data, const struct pp_io *io);
	/* Synch-events of the thread were lost: its holds and waits are unknown from here on. */
	void (*lost)(void *data, const struct pp_thread *thread);
	/* A wake-up of the thread, before its mode changes. */
	void (*waking)(void *data, const struct pp_event *event);
	/* Its lifetime begins, and has ended. */
	void (*started)(void *data, const struct pp_thread *thread);
	void (*ended)(void *data, const struct pp_thread *thread);
};

struct pp_thread_state {
	const struct pp_thread *thread;
	enum pp_mode mode;
	bool begun, over, scheduled; /* scheduled: it had a scheduling event */
	/* It ran before the recording, and its next event tells in which mode it is. */
	bool is_undecided;
	bool was_ready; /* ... and /proc shows that it is not blocked */
	int cpu;
	int64_t start_ns, end_ns; /* of the lifetime so far */
	int64_t since_ns;	  /* begin of the current mode */
	int64_t last_ns;	  /* time of the last event */
	const struct pp_thread *waker;
	const char *syscall; /* the current one; NULL: none, or not recorded */
	bool in_io;	     /* it is in a blocking call: */
	struct pp_io io;
	bool uninterruptible; /* it left its CPU in uninterruptible sleep */
	bool woken_early;     /* the wake-up preceded the switch to which it belongs */
	struct pp_operation_stack operations;
	/* Sums over the selected time: */
	int64_t total_ns[PP_N_MODES];
	uint64_t activities; /* number of times it was switched in */
	uint64_t voluntary, involuntary;
};

/* The selected part of the lifetime so far: modes are contiguous.  `self` may be NULL: 0. */
static inline int64_t pp_thread_lifetime_ns(const struct pp_thread_state *self)
{
	int64_t sum_ns = 0;

	for (unsigned mode = 0; self && mode < PP_N_MODES; mode++)
		sum_ns += self->total_ns[mode];
	return sum_ns;
}

/*
 * The blocking call that the thread is in; NULL: none, or it is in an operation within the call, in
 * a signal handler.
 */
static inline const struct pp_io *pp_thread_io(const struct pp_thread_state *self)
{
	const struct pp_operation_stack *operations = &self->operations;

	return self->in_io &&
		       (!operations->depth ||
			operations->operations[operations->depth - 1].begin_ns <= self->io.begin_ns)
		   ? &self->io
		   : NULL;
}

/* The blocking call or system call that the thread is in; NULL: none, or not recorded. */
static inline const char *pp_thread_call(const struct pp_thread_state *self)
{
	const struct pp_io *io = pp_thread_io(self);

	return io ? pp_io_name(io->call) : self->syscall;
}

/* Data that all threads of a state machine share; borrowed. */
struct pp_mode_observer {
	const struct pp_pass_context *context;
	const struct pp_thread_listener *listener;
};

/* Ends the interval: the thread was in `mode` since the last change, until until_ns. */
void pp_mode_close(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		   int64_t until_ns, enum pp_mode mode);

/* Begins an interval in `mode` at the end of the last one. */
void pp_mode_enter(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		   enum pp_mode mode);

/* Ends the interval in the current mode at now_ns, and begins one in `mode`. */
void pp_mode_change(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		    int64_t now_ns, enum pp_mode mode);

/* True if a switch with that prev_state left the thread runnable. */
bool pp_state_preempted(int64_t prev_state);

/* True if a switch with that prev_state was the thread's last. */
bool pp_state_dead(int64_t prev_state);

/* The mode of a thread that is blocked in the call. */
enum pp_mode pp_mode_in_io(enum st_io_call call);

/*
 * The mode of a thread that a switch with this prev_state took off its CPU without preempting it.
 */
enum pp_mode pp_mode_off_cpu(struct pp_thread_state *self, int64_t prev_state);

#endif
