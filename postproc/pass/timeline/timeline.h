/* SPDX-License-Identifier: MIT */
/*
 * All that is known of one thread, in order of time (the paper's Figure 3): its calls, if there is
 * a history of them, its synch-events, and what the kernel did with it; with the reason each time
 * that it left its CPU, who woke it, and how long it was blocked and runnable.
 *
 * Lines are handed out as they come, one event late at most: nothing grows with the trace.
 *
 * Quantum or preempted: another thread of the program that was woken while this one had its CPU has
 * preempted it; one that had been waiting for a CPU since before got its turn.
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
	PP_TIMELINE_RETURN, /* of a function that called others */
	PP_TIMELINE_SYNC,
	PP_TIMELINE_SYSCALL,
	PP_TIMELINE_OFF, /* it left its CPU */
	PP_TIMELINE_WOKEN,
	PP_TIMELINE_ON, /* it got one */
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
	unsigned depth;	       /* of calls */
	const char *text;      /* for people */
	enum pp_reason reason; /* OFF, and ON: why it had left */
	const char *object;    /* SYNC, OFF: its name; NULL: none */
	int64_t other_tid; /* OFF: holder, or who runs next; WOKEN: waker; ...; -1: none known */
	/*
	 * ON: since it left; others: of what ended.  Of that, ON: blocked, and runnable since it
	 * was woken.  PP_DURATION_UNKNOWN.
	 */
	int64_t duration_ns, blocked_ns, runnable_ns;
};

struct pp_timeline_options {
	uint32_t tid;
	bool has_returns; /* there are records of its returns */
	void (*take)(void *data, const struct pp_timeline_line *line);
	void *data;
};

struct pp_timeline;

#define PP_TIMELINE_KINDS ((1u << PP_N_EVENT_KINDS) - 1)

/* The options are copied.  Of the context's selection, the time chooses lines. */
struct pp_timeline *pp_timeline_new(const struct pp_pass_context *context,
				    const struct pp_timeline_options *options);
void pp_timeline_free(struct pp_timeline *timeline);
void pp_timeline_event(struct pp_timeline *timeline, const struct pp_event *event);

/* The end: what is held back comes. */
void pp_timeline_finish(struct pp_timeline *timeline, int64_t end_ns);

/* Did any system call show; without, a sleep outside synchronization has no reason. */
bool pp_timeline_saw_syscalls(const struct pp_timeline *timeline);

/* What people call the kind: "off CPU", ... */
const char *pp_timeline_kind_name(enum pp_timeline_kind kind);

/* A table of lines, and a row of it. */
struct pp_table *pp_timeline_table(void);
void pp_timeline_add_row(struct pp_table *table, const struct pp_timeline_line *line);

#endif
