/* SPDX-License-Identifier: MIT */
/*
 * Signals that the program sends.
 *
 * The event is written before the call, since the handler may run inside it, jump out of it, or end
 * the process. Its result is not known then: a call that fails has a second event. The gate is open
 * during the call, so a handler's events come between.
 */
#include <errno.h>
#include <signal.h>

#include "record/internal.h"
#include "libc/real.h"
#include "runtime/sys/sys.h"
#include "record/writer.h"

/* Called before the call. Preserves errno, like st_enter(). */
static void note_raise(enum st_event id, uintptr_t site, uint64_t target, int number)
{
	struct st_thread *self = st_skips(id, NULL, site) ? NULL : st_enter();

	if (self == NULL)
		return;
	st_emit_parts(self, id, 0, site, (const void *)target, (uint32_t)number, st_stamp(self));
	st_leave(self);
}

/* Called after it, with the result of kill() or a similar function; uses errno. */
static int signal_result(int value, uintptr_t site, uint64_t target)
{
	if (value != 0)
		st_note(ST_EVENT_signal_failed, errno, site, (const void *)target, 0);
	return value;
}

static int thread_result(int error, uintptr_t site, pthread_t thread)
{
	if (error != 0)
		st_note(ST_EVENT_thread_failed, error, site, (const void *)thread, 0);
	return error;
}

ST_EXPORT int kill(pid_t pid, int number)
{
	uint64_t target = (uint64_t)(int64_t)pid;

	note_raise(ST_EVENT_signal_kill, ST_SITE(), target, number);
	return signal_result(st_real.kill(pid, number), ST_SITE(), target);
}

ST_EXPORT int killpg(pid_t group, int number)
{
	uint64_t target = (uint64_t) - (int64_t)group;

	note_raise(ST_EVENT_signal_killpg, ST_SITE(), target, number);
	return signal_result(st_real.killpg(group, number), ST_SITE(), target);
}

ST_EXPORT int tgkill(pid_t pid, pid_t tid, int number)
{
	uint64_t target = (uint64_t)(int64_t)tid;

	note_raise(ST_EVENT_signal_tgkill, ST_SITE(), target, number);
	return signal_result(st_real.tgkill(pid, tid, number), ST_SITE(), target);
}

ST_EXPORT int raise(int number)
{
	uint64_t target = (uint64_t)gm_sys_gettid();

	note_raise(ST_EVENT_signal_raise, ST_SITE(), target, number);
	return signal_result(st_real.raise(number), ST_SITE(), target);
}

ST_ALIAS(gsignal, raise, (int number), (number))

ST_EXPORT int sigqueue(pid_t pid, int number, const union sigval value)
{
	uint64_t target = (uint64_t)(int64_t)pid;

	note_raise(ST_EVENT_signal_sigqueue, ST_SITE(), target, number);
	return signal_result(st_real.sigqueue(pid, number, value), ST_SITE(), target);
}

/*
 * --- to a thread of this process, by its pthread_t ---------------------------------------------
 */

ST_EXPORT int pthread_kill(pthread_t thread, int number)
{
	note_raise(ST_EVENT_thread_kill, ST_SITE(), thread, number);
	return thread_result(st_real.pthread_kill(thread, number), ST_SITE(), thread);
}

ST_EXPORT int pthread_sigqueue(pthread_t thread, int number, const union sigval value)
{
	note_raise(ST_EVENT_thread_sigqueue, ST_SITE(), thread, number);
	return thread_result(st_real.pthread_sigqueue(thread, number, value), ST_SITE(), thread);
}

ST_EXPORT int pthread_cancel(pthread_t thread)
{
	int result;

	note_raise(ST_EVENT_thread_cancel, ST_SITE(), thread, 0);
	st_thread_cancelled((uint64_t)thread); /* before it may end */
	result = st_real.pthread_cancel(thread);
	if (result != 0)
		st_thread_not_cancelled((uint64_t)thread);
	return thread_result(result, ST_SITE(), thread);
}
