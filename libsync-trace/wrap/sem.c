/* SPDX-License-Identifier: MIT */
/*
 * Semaphores.
 *
 * sem_wait() and sem_timedwait() are cancellation points even if they need not wait, so a pending
 * cancellation is acted on before the semaphore is tried; glibc's sem_clockwait() is one only if it
 * waits. glibc checks the time of a timed wait, and its clock, before anything else, so a call with
 * an invalid one is passed through.
 *
 * errno is preserved: the failing try is not the program's. A thread cancelled in its wait leaves
 * its X_begin without an end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

#include "libc/real.h"
#include "record/tries.h"
#include "wrap/cancelled.h"

struct call {
	clockid_t clock;
	const struct timespec *deadline;
	bool timed, clocked;
};

static int call_real(sem_t *sem, const struct call *call)
{
	if (call->clocked)
		return st_real.sem_clockwait(sem, call->clock, call->deadline);
	if (call->timed)
		return st_real.sem_timedwait(sem, call->deadline);
	return st_real.sem_wait(sem);
}

/* A function of its own, so that only waits have the clean-up. */
static __attribute__((noinline)) int wait_really(sem_t *sem, uintptr_t site,
						 const struct call *call)
{
	ST_CANCELLABLE wait = {.site = site};
	int value = call_real(sem, call);

	wait.is_over = true;
	return value;
}

static bool call_is_valid(const struct call *call)
{
	return !call->timed ||
	       ((call->clock == CLOCK_REALTIME || call->clock == CLOCK_MONOTONIC) &&
		call->deadline->tv_nsec >= 0 && call->deadline->tv_nsec < 1000000000);
}

static int result_of(int value)
{
	return value == 0 ? 0 : errno;
}

int st_sem_look(sem_t *sem)
{
	int count = 0;

	sem_getvalue(sem, &count);
	errno = count == 0 ? EAGAIN : EINVAL;
	return -1;
}

static int wait_traced(sem_t *sem, uintptr_t site, const struct call *call)
{
	enum st_event done = call->timed ? ST_EVENT_sem_timedwait : ST_EVENT_sem_wait;
	int saved_errno = errno, value;
	bool may_try = call_is_valid(call), waits = false;
	uint64_t begin_ns = 0;
	struct st_thread *self;

	if (st_skips(done, sem, site))
		return call_real(sem, call);
	if (may_try && !call->clocked)
		pthread_testcancel();
	self = st_enter();
	if (self == NULL)
		return call_real(sem, call);
	if (may_try) {
		if (st_likely(st_try.sem(sem) == 0)) {
			bool is_sampled = st_sample_is_due(self);

			if (self->counts != NULL && !st_tries_are_open(self) && !is_sampled)
				st_count_event(self->counts, done);
			else
				st_emit_acquired(self, done, site, sem);
			st_leave(self);
			return 0;
		}
		waits = errno == EAGAIN;
		errno = saved_errno;
	}
	if (waits)
		begin_ns = st_note_begin(
		    self, call->timed ? ST_EVENT_sem_timedwait_begin : ST_EVENT_sem_wait_begin,
		    site, sem, 0);
	else
		st_leave(self);
	value = wait_really(sem, site, call);
	st_note_end(begin_ns, done, result_of(value), site, sem, 0);
	return value;
}

ST_EXPORT int sem_wait(sem_t *sem)
{
	static const struct call call = {.timed = false};

	return wait_traced(sem, ST_SITE(), &call);
}

ST_EXPORT int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict deadline)
{
	struct call call = {CLOCK_REALTIME, deadline, true, false};

	return wait_traced(sem, ST_SITE(), &call);
}

ST_EXPORT int sem_clockwait(sem_t *restrict sem, clockid_t clock,
			    const struct timespec *restrict deadline)
{
	struct call call = {clock, deadline, true, true};

	return wait_traced(sem, ST_SITE(), &call);
}

/* Its count was 0; the gate is closed. Only waits are recorded: tries.h. */
static void trywait_failed(struct st_thread *self, sem_t *sem, uintptr_t site)
{
	if (!st_tries_continue(self, ST_EVENT_sem_trywait, site, sem))
		st_tries_begin(self, ST_EVENT_sem_trywait, EAGAIN, site, sem, 0, st_stamp(self));
}

/* Only waits are recorded. */
static int trywait_counted(sem_t *sem, uintptr_t site, uint64_t *counts)
{
	int value = st_real.sem_trywait(sem);
	bool is_event = value == 0 ? st_sample_is_due(st_self) : errno == EAGAIN;
	struct st_thread *self = st_likely(!is_event) ? NULL : st_enter();

	if (st_likely(self == NULL)) {
		st_count(counts, ST_COUNTED_sem_trywait);
		return value;
	}
	if (value == 0)
		st_emit_acquired(self, ST_EVENT_sem_trywait, site, sem);
	else
		trywait_failed(self, sem, site);
	st_leave(self);
	return value;
}

ST_EXPORT int sem_trywait(sem_t *sem)
{
	uint64_t *counts;
	struct st_thread *self;
	int value, result;

	if (st_skips(ST_EVENT_sem_trywait, sem, ST_SITE()))
		return st_real.sem_trywait(sem);
	counts = st_counts();
	if (counts != NULL)
		return trywait_counted(sem, ST_SITE(), counts);
	self = st_enter();
	if (st_unlikely(self == NULL))
		return st_real.sem_trywait(sem);
	value = st_real.sem_trywait(sem);
	result = result_of(value);
	if (self->counts != NULL && result == EAGAIN) {
		trywait_failed(self, sem, ST_SITE());
	} else if (result == 0) {
		st_sample_is_due(self);
		st_emit_acquired(self, ST_EVENT_sem_trywait, ST_SITE(), sem);
	} else
		st_emit_unwaited(self, ST_EVENT_sem_trywait, result, ST_SITE(), sem,
				 st_stamp(self));
	st_leave(self);
	return value;
}

/* glibc's 64-bit semaphore: the value in the lower half, the number of sleepers in the upper. */
static bool has_sleepers(const sem_t *sem)
{
	return __atomic_load_n((const uint64_t *)sem, __ATOMIC_RELAXED) >> 32 != 0;
}

/* The semaphore is not accessed after the call: its waiter may have freed it. */
ST_EXPORT int sem_post(sem_t *sem)
{
	uint64_t *counts;
	struct st_thread *self;
	struct st_release release;
	int value;

	if (st_skips(ST_EVENT_sem_post, sem, ST_SITE()))
		return st_real.sem_post(sem);
	counts = st_counts();
	if (counts != NULL && !has_sleepers(sem)) {
		st_count(counts, ST_COUNTED_sem_post);
		return st_real.sem_post(sem);
	}
	self = st_enter();
	if (st_unlikely(self == NULL))
		return st_real.sem_post(sem);
	release = st_release_begin(self, ST_EVENT_sem_post, 0, ST_SITE(), sem, has_sleepers(sem));
	value = st_real.sem_post(sem);
	st_release_end(self, release, ST_EVENT_sem_post, 0, result_of(value), ST_SITE(), sem);
	st_leave(self);
	return value;
}

ST_EXPORT int sem_init(sem_t *sem, int shared, unsigned value)
{
	int result;

	st_ready();
	result = st_real.sem_init(sem, shared, value);
	st_note(ST_EVENT_sem_init, result_of(result), ST_SITE(), sem, value);
	return result;
}

ST_EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
	mode_t mode = 0;
	unsigned value = 0;
	int count = 0;
	sem_t *sem;

	if ((flags & O_CREAT) != 0) {
		va_list list;

		va_start(list, flags);
		mode = va_arg(list, mode_t);
		value = va_arg(list, unsigned);
		va_end(list);
	}
	st_ready();
	sem = st_real.sem_open(name, flags, mode, value);
	/* An existing one keeps its count. */
	if (sem != SEM_FAILED)
		sem_getvalue(sem, &count);
	st_note(ST_EVENT_sem_open, sem != SEM_FAILED ? 0 : errno, ST_SITE(), sem, (uint32_t)count);
	return sem;
}

ST_EXPORT int sem_close(sem_t *sem)
{
	int result;

	st_ready();
	result = st_real.sem_close(sem);
	st_note(ST_EVENT_sem_close, result_of(result), ST_SITE(), sem, 0);
	return result;
}

ST_EXPORT int sem_destroy(sem_t *sem)
{
	int result;

	st_ready();
	result = st_real.sem_destroy(sem);
	st_note(ST_EVENT_sem_destroy, result_of(result), ST_SITE(), sem, 0);
	return result;
}
