/* SPDX-License-Identifier: MIT */
/*
 * Condition variables.
 *
 * A wait releases its mutex and takes it back inside libc, invisibly; X_begin stands for the first
 * and X for the second. A thread cancelled in its wait also takes the mutex back, before its own
 * clean-up handlers unlock it. Our handler, which runs before theirs, writes the X with ECANCELED.
 * It is not registered: this file is compiled with -fexceptions, and the unwinder finds the handler
 * by tables. So nothing is left behind when a signal handler jumps out of the wait.
 */
#include <errno.h>

#include "wrap/c11.h"
#include "libc/real.h"
#include "record/writer.h"

struct wait {
	enum st_event done;
	uintptr_t site;
	pthread_cond_t *cond;
	pthread_mutex_t *mutex;
	clockid_t clock;
	const struct timespec *deadline;
	bool clocked;
	uint64_t begin_ns;
	uintptr_t recorded; /* the mutex, or 0 if it is not recorded */
};

/*
 * Runs at the end of the wait's scope. If the wait has begun and not ended, the stack is being
 * unwound.
 */
static void wait_over(struct wait *const *link)
{
	const struct wait *wait = *link;

	if (st_unlikely(wait->begin_ns != 0))
		st_note_cut(wait->begin_ns, wait->done, ECANCELED, wait->site, wait->cond,
			    wait->recorded);
}

static int wait_really(const struct wait *wait)
{
	if (wait->clocked)
		return st_real.pthread_cond_clockwait(wait->cond, wait->mutex, wait->clock,
						      wait->deadline);
	if (wait->done == ST_EVENT_cond_timedwait)
		return st_real.pthread_cond_timedwait(wait->cond, wait->mutex, wait->deadline);
	return st_real.pthread_cond_wait(wait->cond, wait->mutex);
}

static int wait_traced(struct wait *wait)
{
	__attribute__((cleanup(wait_over), unused)) struct wait *const unwound = wait;
	const void *mutex = wait->mutex;
	struct st_thread *self = st_skips_wait(wait->cond, &mutex, wait->site) ? NULL : st_enter();
	uint64_t begin_ns;
	int result;

	if (self == NULL)
		return wait_really(wait);
	wait->recorded = (uintptr_t)mutex;
	wait->begin_ns =
	    st_note_begin(self,
			  wait->done == ST_EVENT_cond_wait ? ST_EVENT_cond_wait_begin
							   : ST_EVENT_cond_timedwait_begin,
			  wait->site, wait->cond, wait->recorded);
	result = wait_really(wait);
	begin_ns = wait->begin_ns;
	wait->begin_ns = 0;
	st_note_end(begin_ns, wait->done, result, wait->site, wait->cond, wait->recorded);
	return result;
}

ST_EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	struct wait wait = {.done = ST_EVENT_cond_wait, ST_SITE(), cond, mutex};

	return wait_traced(&wait);
}

ST_EXPORT int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				     const struct timespec *deadline)
{
	struct wait wait = {
	    .done = ST_EVENT_cond_timedwait, ST_SITE(), cond, mutex, .deadline = deadline};

	return wait_traced(&wait);
}

ST_EXPORT int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
				     const struct timespec *deadline)
{
	struct wait wait = {.done = ST_EVENT_cond_timedwait,
			    ST_SITE(),
			    cond,
			    mutex,
			    clock,
			    deadline,
			    .clocked = true};

	return wait_traced(&wait);
}

/* glibc's count of waiters is above three flags. */
static bool has_waiters(const pthread_cond_t *cond)
{
	return __atomic_load_n(&cond->__data.__wrefs, __ATOMIC_RELAXED) >> 3 != 0;
}

/*
 * Stamped before the call, since a woken thread may run at once. The call may wait for waiters to
 * leave: the gate is open.
 */
static struct st_release release_begin(enum st_event id, uintptr_t site, const pthread_cond_t *cond)
{
	struct st_release release = {0};
	struct st_thread *self = st_enter();

	if (self == NULL)
		return release;
	release = st_release_begin(self, id, 0, site, cond, self->ust && has_waiters(cond));
	st_leave(self);
	return release;
}

static void release_end(struct st_release release, enum st_event id, int result, uintptr_t site,
			const void *object)
{
	struct st_thread *self = st_enter();

	if (self == NULL)
		return;
	st_release_end(self, release, id, 0, result, site, object);
	st_leave(self);
}

static int signal_traced(pthread_cond_t *cond, uintptr_t site)
{
	uint64_t *counts;
	bool waiters;
	struct st_release release;
	int result;

	if (st_skips(ST_EVENT_cond_signal, cond, site))
		return st_real.pthread_cond_signal(cond);
	counts = st_counts();
	waiters = has_waiters(cond);
	if (counts != NULL && !waiters) {
		st_count(counts, ST_COUNTED_cond_signal);
		return st_real.pthread_cond_signal(cond);
	}
	release = release_begin(ST_EVENT_cond_signal, site, cond);
	release.sleepers = waiters;
	result = st_real.pthread_cond_signal(cond);
	release_end(release, ST_EVENT_cond_signal, result, site, cond);
	return result;
}

static int broadcast_traced(pthread_cond_t *cond, uintptr_t site)
{
	uint64_t *counts;
	bool waiters;
	struct st_release release;
	int result;

	if (st_skips(ST_EVENT_cond_broadcast, cond, site))
		return st_real.pthread_cond_broadcast(cond);
	counts = st_counts();
	waiters = has_waiters(cond);
	if (counts != NULL && !waiters) {
		st_count(counts, ST_COUNTED_cond_broadcast);
		return st_real.pthread_cond_broadcast(cond);
	}
	release = release_begin(ST_EVENT_cond_broadcast, site, cond);
	release.sleepers = waiters;
	result = st_real.pthread_cond_broadcast(cond);
	release_end(release, ST_EVENT_cond_broadcast, result, site, cond);
	return result;
}

ST_EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
	return signal_traced(cond, ST_SITE());
}

ST_EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
	return broadcast_traced(cond, ST_SITE());
}

ST_EXPORT int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes)
{
	int result;

	st_ready();
	result = st_real.pthread_cond_init(cond, attributes);
	st_note(ST_EVENT_cond_init, result, ST_SITE(), cond, 0);
	return result;
}

ST_EXPORT int pthread_cond_destroy(pthread_cond_t *cond)
{
	int result;

	st_ready();
	result = st_real.pthread_cond_destroy(cond);
	st_note(ST_EVENT_cond_destroy, result, ST_SITE(), cond, 0);
	return result;
}

/* --- C11's functions, which are the same in glibc (see c11.h) ------------------------------ */

ST_EXPORT int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	struct wait wait = {.done = ST_EVENT_cond_wait,
			    ST_SITE(),
			    (pthread_cond_t *)cond,
			    (pthread_mutex_t *)mutex};

	return st_c11_known() ? st_c11_result(wait_traced(&wait)) : st_real.cnd_wait(cond, mutex);
}

ST_EXPORT int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex,
			    const struct timespec *restrict deadline)
{
	struct wait wait = {.done = ST_EVENT_cond_timedwait,
			    ST_SITE(),
			    (pthread_cond_t *)cond,
			    (pthread_mutex_t *)mutex,
			    .deadline = deadline};

	return st_c11_known() ? st_c11_result(wait_traced(&wait))
			      : st_real.cnd_timedwait(cond, mutex, deadline);
}

ST_EXPORT int cnd_signal(cnd_t *cond)
{
	return st_c11_known() ? st_c11_result(signal_traced((pthread_cond_t *)cond, ST_SITE()))
			      : st_real.cnd_signal(cond);
}

ST_EXPORT int cnd_broadcast(cnd_t *cond)
{
	return st_c11_known() ? st_c11_result(broadcast_traced((pthread_cond_t *)cond, ST_SITE()))
			      : st_real.cnd_broadcast(cond);
}

ST_EXPORT int cnd_init(cnd_t *cond)
{
	bool known = st_c11_known();
	int result = st_real.cnd_init(cond);

	if (known)
		st_note(ST_EVENT_cond_init, st_c11_error(result), ST_SITE(), cond, 0);
	return result;
}

ST_EXPORT void cnd_destroy(cnd_t *cond)
{
	bool known = st_c11_known();

	st_real.cnd_destroy(cond);
	if (known)
		st_note(ST_EVENT_cond_destroy, 0, ST_SITE(), cond, 0);
}
