/* SPDX-License-Identifier: MIT */
/*
 * Recognizes system calls of gprof-mt's own libraries in a thread.
 *
 * The libraries perform their steps with signals blocked, between two calls of rt_sigprocmask().
 * The first passes a set in their own memory (libgmon-mt/runtime/sys/kernel.c), which no other code
 * does; the second sets the former mask. The program's code does not run in between. Pairs nest.
 */
#ifndef PP_PASS_TIMELINE_OWN_CALLS_H
#define PP_PASS_TIMELINE_OWN_CALLS_H

#include "core/event.h"
#include "core/namer.h"

struct pp_own_calls {
	unsigned depth; /* of open pairs */
	bool is_inside; /* of a system call of the libraries */
	uint64_t n;	/* recognized so far */
};

/* To be called at each entry of a system call of the thread; the other, at each exit. */
bool pp_own_calls_enter(struct pp_own_calls *own, const struct pp_namer *namer,
			const struct pp_event *event);
bool pp_own_calls_leave(struct pp_own_calls *own);

/* After lost events, or at the start of another program, no pair is open. */
void pp_own_calls_forget(struct pp_own_calls *own);

#endif
