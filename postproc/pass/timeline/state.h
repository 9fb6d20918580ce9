/* SPDX-License-Identifier: MIT */
/* The inside of timeline.h: for timeline.c, and leave.c, which finds reasons. */
#ifndef PP_PASS_TIMELINE_STATE_H
#define PP_PASS_TIMELINE_STATE_H

#include "pass/replay.h"
#include "pass/timeline/timeline.h"

/* What is known of the thread now. */
struct track {
	const struct pp_thread *thread; /* NULL: not seen yet */
	int cpu;
	int64_t on_ns, off_ns, woken_ns; /* PP_TIME_UNKNOWN */
	bool woken_early;		 /* before it left */
	enum pp_reason reason;		 /* for which it left */
	const char *syscall;		 /* that it is in; NULL: none */
	int64_t syscall_ns, syscall_fd;	 /* fd: -1: it has none */
	GString *held;			 /* its entry's line, which waits for its exit; NULL */
	unsigned held_depth;
	bool faulted; /* a page fault was the last that it did */
	uint64_t fault_address;
};

struct pp_timeline {
	const struct pp_pass_context *context;
	struct pp_timeline_options options;
	struct pp_thread_listener listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	struct pp_replay *replay;
	struct track track;
	struct pp_object *waits_on; /* of its last operation that had to wait */
	int64_t now_ns;
	GArray *woken;	/* of int64_t: when each thread was woken last, by serial */
	GArray *timers; /* of bool: was a timer the last that happened on that CPU */
	bool saw_syscalls;
};

/* The object's name: kept with it, but for a thread's, which may get another. */
const char *pp_timeline_name(struct pp_timeline *self, struct pp_object *object);

/* `before` and where that is, if it is known. */
void pp_timeline_add_site(const struct pp_timeline *self, GString *text, const char *before,
			  uint64_t address);

/* ", held by main (tid 5) since main (app.c:3)", if one has it; his tid, or -1. */
int64_t pp_timeline_add_holder(struct pp_timeline *self, GString *text,
			       const struct pp_object *object,
			       const struct pp_operation *operation);

/* Why the thread leaves its CPU at this switch; in *ret_tid who is to blame, if one is known. */
enum pp_reason pp_timeline_add_reason(struct pp_timeline *self, GString *text,
				      const struct pp_event *event, int64_t *ret_tid);

#endif
