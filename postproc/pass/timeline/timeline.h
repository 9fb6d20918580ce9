/* SPDX-License-Identifier: MIT */
/*
 * A time line of one thread (the paper's Figure 3): its calls, if there is a call history, its
 * synch-events, and its kernel events.  It gives the reason of each switch-out, the waker, and the
 * blocked and runnable times.
 *
 * Lines are passed on as events arrive, at most one event late, so memory does not grow with the
 * trace.
 *
 * Quantum or preempted: if the next thread of the program was woken while this one had the CPU, it
 * preempted this one; if it had been runnable before, this one's time slice ended.
 */
#ifndef PP_PASS_TIMELINE_TIMELINE_H
#define PP_PASS_TIMELINE_TIMELINE_H

#include "analysis/pass.h"
#include "analysis/state/thread_state.h"
#include "analysis/state/object_state.h"
#include "analysis/reason.h"

enum pp_timeline_kind {
	PP_TIMELINE_START,
	PP_TIMELINE_CALL,
	PP_TIMELINE_RETURN, /* return of a function that made calls */
	PP_TIMELINE_SYNC,
	PP_TIMELINE_SYSCALL,
	PP_TIMELINE_IO,	 /* begin or end of a blocking call */
	PP_TIMELINE_OFF, /* switched out */
	PP_TIMELINE_WOKEN,
	PP_TIMELINE_ON, /* switched in */
	PP_TIMELINE_WAKES,
	PP_TIMELINE_FORK,
	PP_TIMELINE_FAULT,
	PP_TIMELINE_SIGNAL,
	PP_TIMELINE_BLOCK,
	PP_TIMELINE_EXEC,
	PP_TIMELINE_END,
	PP_TIMELINE_LOST,
};

struct pp_timeline_line {
	enum pp_timeline_kind kind;
	const struct pp_thread *thread;
	int64_t time_ns;
	int cpu;	       /* PP_CPU_UNKNOWN */
	unsigned depth;	       /* of nested calls */
	const char *text;      /* in words */
	enum pp_reason reason; /* OFF; ON: of the preceding OFF */
	const char *object;    /* SYNC, OFF: the object's name; NULL: none */
	int64_t other_tid;     /* OFF: holder or next thread; WOKEN: waker; ...; -1: not known */
	/*
	 * ON: since the switch-out, and of this the blocked and runnable times (the latter since
	 * the wake-up).  Other kinds: duration of what ended.  PP_DURATION_UNKNOWN.
	 */
	int64_t duration_ns, blocked_ns, runnable_ns;
};

struct pp_timeline_options {
	uint32_t tid;
	bool has_returns; /* the thread's returns are recorded */
	void (*take)(void *data, const struct pp_timeline_line *line);
	void *data;
};

struct pp_timeline;

#define PP_TIMELINE_KINDS ((1u << PP_N_EVENT_KINDS) - 1)

/* Copies the options.  Of the context's selection, only the time applies to lines. */
struct pp_timeline *pp_timeline_new(const struct pp_pass_context *context,
				    const struct pp_timeline_options *options);
void pp_timeline_free(struct pp_timeline *timeline);
void pp_timeline_event(struct pp_timeline *timeline, const struct pp_event *event);

/* Emits the line that was held back. */
void pp_timeline_finish(struct pp_timeline *timeline, int64_t end_ns);

/*
 * True if a system call was recorded.  Without them, sleeping outside synchronization has no known
 * reason.
 */
bool pp_timeline_saw_syscalls(const struct pp_timeline *timeline);

/* The number of system calls of gprof-mt's own libraries; they have no lines. */
uint64_t pp_timeline_n_own_calls(const struct pp_timeline *timeline);

/* The display name of the kind: "off CPU", ... */
const char *pp_timeline_kind_name(enum pp_timeline_kind kind);

/* A table of lines, and a function that adds a row. */
struct pp_table *pp_timeline_table(void);
void pp_timeline_add_row(struct pp_table *table, const struct pp_timeline_line *line);

#endif
