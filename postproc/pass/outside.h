/* SPDX-License-Identifier: MIT */
/*
 * Time in which threads were blocked outside of recorded operations: where it was spent, as far as
 * the capture has it, and how to see it.
 */
#ifndef PP_PASS_OUTSIDE_H
#define PP_PASS_OUTSIDE_H

#include "analysis/pass.h"
#include "core/event.h"

struct pp_outside {
	const struct pp_pass_context *context;
	GArray *of_thread;   /* of struct pp_outside_thread, by thread serial */
	GHashTable *by_call; /* blocked time (int64_t *) in each call, by interned name */
	bool has_calls;	     /* system calls are recorded */
	bool has_io;	     /* ... and blocking calls, with call sites */
};

/* The kinds of events that it needs. */
#define PP_OUTSIDE_KINDS                                                                           \
	(PP_EVENT_MASK(PP_EVENT_SYNC) | PP_EVENT_MASK(PP_EVENT_SWITCH) |                           \
	 PP_EVENT_MASK(PP_EVENT_WAKING) | PP_EVENT_MASK(PP_EVENT_SYSCALL_ENTRY) |                  \
	 PP_EVENT_MASK(PP_EVENT_SYSCALL_EXIT) | PP_IO_KINDS)

void pp_outside_init(struct pp_outside *outside, const struct pp_pass_context *context);
void pp_outside_done(struct pp_outside *outside);
void pp_outside_event(struct pp_outside *outside, const struct pp_event *event);

/*
 * One line if a quarter of the threads' time or more was blocked in this way, else NULL.  The
 * caller frees it.  total_ns: the time of all threads; blocked_ns: of this, blocked in I/O and
 * otherwise.
 */
char *pp_outside_text(const struct pp_outside *outside, int64_t total_ns, int64_t blocked_ns);

#endif
