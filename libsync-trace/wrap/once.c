/* SPDX-License-Identifier: MIT */
/*
 * pthread_once() and call_once().
 *
 * A call returns late either because this thread runs the routine itself, or because another thread
 * is running it. Only the second is a wait. glibc's control word distinguishes the two, except if
 * two threads call at the same instant: then one waits without a begin.
 */
#include "wrap/c11.h"
#include "libc/real.h"
#include "record/writer.h"

/* The low bits of glibc's pthread_once_t; above them is the number of forks. */
#define IN_PROGRESS 1
#define DONE	    2

static int once_traced(pthread_once_t *control, void (*routine)(void), uintptr_t site)
{
	struct st_thread *self = st_skips(ST_EVENT_once, control, site) ? NULL : st_enter();
	uint64_t begin_ns = 0;
	int state, result;

	if (self == NULL)
		return st_real.pthread_once(control, routine);
	state = __atomic_load_n(control, __ATOMIC_RELAXED) & (IN_PROGRESS | DONE);
	if (state == IN_PROGRESS)
		begin_ns = st_note_begin(self, ST_EVENT_once_begin, site, control, 0);
	else
		st_leave(self);
	/*
	 * If the routine throws, or the thread is cancelled in it, it has not been run: no event.
	 */
	result = st_real.pthread_once(control, routine);
	st_note_end(begin_ns, ST_EVENT_once, result, site, control, 0);
	return result;
}

ST_EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
	return once_traced(control, routine, ST_SITE());
}

ST_ALIAS(__pthread_once, pthread_once, (pthread_once_t * control, void (*routine)(void)),
	 (control, routine))

/* The same function in glibc (see c11.h). */
ST_EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
	if (st_c11_known())
		once_traced((pthread_once_t *)flag, routine, ST_SITE());
	else
		st_real.call_once(flag, routine);
}
