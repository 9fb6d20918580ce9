/* SPDX-License-Identifier: MIT */
/* Shared by timeline.c, and leave.c, which determines reasons. */
#ifndef PP_PASS_TIMELINE_STATE_H
#define PP_PASS_TIMELINE_STATE_H

#include "pass/replay.h"
#include "pass/timeline/own_calls.h"
#include "pass/timeline/timeline.h"

/* The current state of the thread. */
struct track {
	const struct pp_thread *thread; /* NULL: no event yet */
	int cpu;
	int64_t on_ns, off_ns, woken_ns; /* PP_TIME_UNKNOWN */
	bool woken_early;		 /* woken before it was switched out */
	enum pp_reason reason;		 /* of the last switch-out */
	const char *syscall;		 /* the current one; NULL: none */
	int64_t syscall_ns, syscall_fd;	 /* fd: -1 if there is none */
	GString *held;			 /* the line of its entry, held back until its exit; NULL */
	unsigned held_depth;
	struct pp_own_calls own;
	bool faulted; /* the last event was a page fault */
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
	struct pp_object *waits_on; /* object of its last operation that had to wait */
	int64_t now_ns;
	GArray *woken;	/* of int64_t, by serial: time of each thread's last wake-up */
	GArray *timers; /* of bool, by CPU: the last event was a timer */
	bool saw_syscalls;
	uint64_t n_own_calls; /* of former threads with the tid */
};

/* The object's name.  It is cached, except for threads, whose name may change. */
const char *pp_timeline_name(struct pp_timeline *self, struct pp_object *object);

/* Appends `before` and the call site, if it is known. */
void pp_timeline_add_site(const struct pp_timeline *self, GString *text, const char *before,
			  uint64_t address);

/*
 * Appends ", held by main (tid 5) since main (app.c:3)" if the object has a holder.  Returns the
 * holder's tid, or -1.
 */
int64_t pp_timeline_add_holder(struct pp_timeline *self, GString *text,
			       const struct pp_object *object,
			       const struct pp_operation *operation);

/* Appends the reason of this switch-out. *ret_tid is the thread that caused it, or -1. */
enum pp_reason pp_timeline_add_reason(struct pp_timeline *self, GString *text,
				      const struct pp_event *event, int64_t *ret_tid);

#endif
