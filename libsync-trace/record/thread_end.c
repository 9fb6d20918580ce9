/* SPDX-License-Identifier: MIT */
/*
 * The call path of a thread's end, which ends the wait of the thread that joins it.
 *
 * `thread_exit` is written by a key's destructor, when the frames of the place where the thread
 * ended are gone. So the path is taken there, by pthread_exit() and by the clean-ups of cancelled
 * waits, and its node is kept in the writer until then. A thread whose start routine has returned
 * has that function as its path.
 *
 * No code of ours runs if libc acts upon a cancellation itself, or if one interrupts the program's
 * code. So a thread that was cancelled and has no path did not simply return: its end has none.
 * Cancelled threads are kept in a table by their pthread_t; if a place of it is needed for two
 * threads at a time, the ends of all later threads that seem to return have no path.
 */
#include "record/internal.h"
#include "runtime/process/threads.h"
#include "runtime/sys/sys.h"

#define CANCELLED_MAX 256u /* a power of two */

static GM_LARGE uint64_t cancelled[CANCELLED_MAX];
static bool overflown;

static uint64_t *place_of(uint64_t thread)
{
	return &cancelled[thread * 0x9e3779b97f4a7c15u >> 56 & (CANCELLED_MAX - 1)];
}

void st_thread_cancelled(uint64_t thread)
{
	uint64_t other = 0;

	if (!__atomic_compare_exchange_n(place_of(thread), &other, thread, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED) &&
	    other != thread)
		__atomic_store_n(&overflown, true, __ATOMIC_RELAXED);
}

void st_thread_not_cancelled(uint64_t thread)
{
	if (__atomic_load_n(place_of(thread), __ATOMIC_RELAXED) == thread)
		__atomic_store_n(place_of(thread), 0, __ATOMIC_RELAXED);
}

static bool has_returned(uint64_t thread)
{
	return __atomic_load_n(place_of(thread), __ATOMIC_RELAXED) != thread &&
	       !__atomic_load_n(&overflown, __ATOMIC_RELAXED);
}

void st_thread_ends_at(struct st_thread *self, uintptr_t site, uint64_t now_ns)
{
	/* A clean-up handler may call pthread_exit() again. */
	if (self->end_path == 0)
		self->end_path = st_path_number(self, site, ST_RELEASES, now_ns);
}

void st_thread_end_path(struct st_thread *self, uint64_t thread, uint64_t now_ns)
{
	uintptr_t routine = self->live ? self->slot->start_routine : 0;
	uint32_t number = self->end_path;

	/* The address behind the function's first byte, since readers subtract 1. */
	if (number == 0 && routine != 0 && has_returned(thread))
		number = st_path_number_of(self, routine + 1, now_ns);
	if (number != 0)
		st_emit_parts(self, ST_EVENT_call_path, 0, 0, (const void *)thread, number, now_ns);
	st_thread_not_cancelled(thread);
}
