/* SPDX-License-Identifier: MIT */
/*
 * Events as text, readable for people: one declaration or event per line; `#` begins a comment.
 *
 *   source kernel|switches|none    the source of scheduling events (default: kernel)
 *   process PID [start=T] [end=T] [io=D]    io: its blocking calls of at least D ns are recorded
 *           [accesses=compiled|sampled]     accesses in critical sections are recorded
 *           [attached]    it ran before the recording
 *   thread TID [name=N] [pid=PID] [index=I] [start=T] [end=T] [routine=A] [calls=N] [ended]
 *          [openmp]   its process has loaded an OpenMP library
 *          [samples=A*N,...]   N samples at A, each of 10 ms
 *          [OPERATION=N]...    of its process only waits were recorded; these did not wait
 *
 *   TIME switch prev=TID next=TID [state=S] [comm=N] [cpu=C]      N: of the next
 *   TIME waking tid=TID [waker=TID] [interrupt] [cpu=C]
 *   TIME fork tid=CHILD [parent=TID]
 *   TIME state tid=TID [state=S]     S of a thread that ran before the recording
 *   TIME exit tid=TID
 *   TIME exec tid=TID
 *   TIME syscall_entry tid=TID name=N [fd=F] [how=H nset=A]
 *   TIME syscall_exit tid=TID name=N [result=R]
 *   TIME fault tid=TID [address=A] [ip=A]
 *   TIME signal tid=TID number=N [sender=TID]      raised; delivered to it: without a sender, and
 *   TIME delivered tid=TID number=N
 *   TIME block tid=TID [bytes=N] [write]
 *   TIME timer [cpu=C]
 *   TIME sample tid=TID [weight=T] [path=A,A...] [end=N]   T ns of CPU time (default: 10 ms)
 *   TIME lost count=N tid=TID            records of that thread's stream
 *   TIME lost count=N [cpu=C]            records of the scheduler's
 *   TIME OPERATION tid=TID object=A [result=R] [site=A] [holder=TID] [value=V] [mutex=A] [more=N]
 * [routine=A] [path=A,A...] [order=N]
 *   TIME io tid=TID call=NAME for=D [fd=F] [object=A] [error=E] [site=A] [path=A,A...] [late]
 *          a blocking call that lasted D ns; late: its begin is no event
 *   TIME segment tid=TID [for=D] [r=A+N,...] [w=A+N,...] [c=A+N,...] [site=A] [reads=N] [writes=N]
 *          [left_out=N] [flags=N]     a segment of accesses: bytes read, written and changed (all
 *          written ones) at that site, in one access for each range, in that order
 *   TIME heap_block tid=TID address=A size=N [site=A]
 *   TIME heap_freed tid=TID address=A size=N
 *   repeat N every=T [stride=A]    the events since the last repeat or declaration, N times in all:
 *          each T ns later, on objects that are A bytes further
 *
 * TIME and T are nanoseconds and do not go back.  Numbers are decimal or 0x hexadecimal.  S is a
 * number as in sched_switch, or R (runnable), S (blocked), D (uninterruptible), X (dead); `prev`
 * and `next` are 0 for idle and -1 where the source cannot tell.  OPERATION is an event's name,
 * such as mutex_lock_begin.  A tid that no `thread` declares is another program's.  The first
 * process is declared by the first thread, if nothing else does.
 */
#ifndef PP_TESTS_EVENT_TEXT_H
#define PP_TESTS_EVENT_TEXT_H

#include "core/error.h"
#include "core/event.h"
#include "core/model.h"

struct pp_text {
	struct pp_model *model;
	bool has_kernel, has_switch_pairs, has_wakings;
	GArray *events;	   /* of struct pp_event, in order of time */
	GPtrArray *sets;   /* of struct pp_access_set *: those of the events */
	GPtrArray *orders; /* of GArray *, the same */
};

/*
 * Reads all of `text`. `name` and `first_line` are for errors: "name:line: what". The caller frees
 * *ret.
 */
int pp_text_read(const char *text, const char *name, unsigned first_line, struct pp_text **ret,
		 struct pp_error *err);
void pp_text_free(struct pp_text *text);

#endif
