/* SPDX-License-Identifier: MIT */
/*
 * Read-write locks.
 *
 * They work like mutexes (mutex.c): the lock is tried first; if that fails, a wait is announced,
 * and the result comes from the call that the program made. In glibc, the call and its try acquire
 * a free lock in the same way, for readers under both preferences, too. A lock held for writing has
 * the tid of its owner; of readers there is only a number.
 *
 * glibc checks the time of a timed call, and its clock, before anything else, so a call with an
 * invalid one is passed through.
 */
#include <errno.h>

#include "record/tries.h"
#include "libc/real.h"
#include "record/writer.h"

#ifndef __GLIBC__
#error "the writer of a lock is read from glibc's pthread_rwlock_t"
#endif

/* The program's call. */
struct call {
	enum st_event begin, done;
	clockid_t clock;
	const struct timespec *deadline;
	bool writes, timed, clocked;
};

static int call_real(pthread_rwlock_t *lock, const struct call *call)
{
	if (call->clocked)
		return (call->writes ? st_real.pthread_rwlock_clockwrlock
				     : st_real.pthread_rwlock_clockrdlock)(lock, call->clock,
									   call->deadline);
	if (call->timed)
		return (call->writes ? st_real.pthread_rwlock_timedwrlock
				     : st_real.pthread_rwlock_timedrdlock)(lock, call->deadline);
	return (call->writes ? st_real.pthread_rwlock_wrlock : st_real.pthread_rwlock_rdlock)(lock);
}

static bool call_is_valid(const struct call *call)
{
	return !call->timed ||
	       ((call->clock == CLOCK_REALTIME || call->clock == CLOCK_MONOTONIC) &&
		call->deadline->tv_nsec >= 0 && call->deadline->tv_nsec < 1000000000);
}

/* Returns 0 if the lock is free or held by readers. */
static uint32_t writer_of(const pthread_rwlock_t *lock)
{
	return (uint32_t)__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);
}

int st_rdlock_look(pthread_rwlock_t *lock)
{
	return writer_of(lock) != 0 ? EBUSY : EINVAL;
}

#define READER_SHIFT 3 /* in glibc; flags are below it */

int st_wrlock_look(pthread_rwlock_t *lock)
{
	uint32_t readers = __atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED);

	return writer_of(lock) != 0 || readers >> READER_SHIFT != 0 ? EBUSY : EINVAL;
}

/* Set in either of glibc's two futexes while a thread sleeps on it. */
#define FUTEX_USED 2u

static bool has_sleepers(const pthread_rwlock_t *lock)
{
	return ((__atomic_load_n(&lock->__data.__wrphase_futex, __ATOMIC_RELAXED) |
		 __atomic_load_n(&lock->__data.__writers_futex, __ATOMIC_RELAXED)) &
		FUTEX_USED) != 0;
}

/* Acquired without a wait. The gate is closed, and opened here. */
static inline int lock_got(struct st_thread *self, pthread_rwlock_t *lock, uintptr_t site,
			   enum st_event done)
{
	if (self->counts != NULL) {
		st_hold_begin(self, done, (enum st_counted)(st_counted_of[done] - 1), site, lock);
	} else {
		st_sample_is_due(self);
		st_emit_acquired(self, done, site, lock);
	}
	st_leave(self);
	return 0;
}

static int lock_try(pthread_rwlock_t *lock, const struct call *call)
{
	return (call->writes ? st_try.wrlock : st_try.rdlock)(lock);
}

/*
 * Other threads hold it. A releasing thread sees this waiter, or this thread acquires the lock now.
 */
static ST_COLD int lock_waits(struct st_thread *self, pthread_rwlock_t *lock, uintptr_t site,
			      uint32_t writer, const struct call *call)
{
	uint64_t begin_ns;
	uint32_t now, generation;
	int result;

	generation = st_waits_begin(lock);
	begin_ns = st_stamp(self);
	if (lock_try(lock, call) == 0) {
		st_waits_end(lock, generation);
		return lock_got(self, lock, site, call->done);
	}
	now = writer_of(lock);
	if (now != 0)
		writer = now;
	begin_ns = st_note_begin_at(self, call->begin, site, lock, writer, begin_ns);
	result = call_real(lock, call);
	st_note_end(begin_ns, call->done, result, site, lock, 0);
	st_waits_end(lock, generation);
	return result;
}

static inline int lock_traced(pthread_rwlock_t *lock, uintptr_t site, const struct call *call)
{
	struct st_thread *self = st_skips(call->done, lock, site) ? NULL : st_enter();
	int tried = EINVAL, result;
	uint32_t writer;

	if (st_unlikely(self == NULL))
		return call_real(lock, call);
	if (call_is_valid(call))
		tried = lock_try(lock, call);
	if (st_likely(tried == 0))
		return lock_got(self, lock, site, call->done);
	writer = writer_of(lock);
	/* Its own writer gets EDEADLK, without a wait. */
	if (tried == EBUSY && writer != self->stream.tid)
		return lock_waits(self, lock, site, writer, call);
	st_leave(self);
	result = call_real(lock, call);
	st_note_end(0, call->done, result, site, lock, 0);
	return result;
}

ST_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	struct call call = {.begin = ST_EVENT_rwlock_rdlock_begin, .done = ST_EVENT_rwlock_rdlock};

	return lock_traced(lock, ST_SITE(), &call);
}

ST_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock,
					 const struct timespec *restrict deadline)
{
	struct call call = {ST_EVENT_rwlock_timedrdlock_begin, ST_EVENT_rwlock_timedrdlock,
			    CLOCK_REALTIME, deadline, .timed = true};

	return lock_traced(lock, ST_SITE(), &call);
}

ST_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict lock, clockid_t clock,
					 const struct timespec *restrict deadline)
{
	struct call call = {ST_EVENT_rwlock_timedrdlock_begin,
			    ST_EVENT_rwlock_timedrdlock,
			    clock,
			    deadline,
			    .timed = true,
			    .clocked = true};

	return lock_traced(lock, ST_SITE(), &call);
}

ST_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	struct call call = {ST_EVENT_rwlock_wrlock_begin, ST_EVENT_rwlock_wrlock, .writes = true};

	return lock_traced(lock, ST_SITE(), &call);
}

ST_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock,
					 const struct timespec *restrict deadline)
{
	struct call call = {ST_EVENT_rwlock_timedwrlock_begin,
			    ST_EVENT_rwlock_timedwrlock,
			    CLOCK_REALTIME,
			    deadline,
			    .writes = true,
			    .timed = true};

	return lock_traced(lock, ST_SITE(), &call);
}

ST_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict lock, clockid_t clock,
					 const struct timespec *restrict deadline)
{
	struct call call = {ST_EVENT_rwlock_timedwrlock_begin,
			    ST_EVENT_rwlock_timedwrlock,
			    clock,
			    deadline,
			    .writes = true,
			    .timed = true,
			    .clocked = true};

	return lock_traced(lock, ST_SITE(), &call);
}

/* The first of a run of failed tries. As in lock_waits(). */
static ST_COLD int trylock_failed(struct st_thread *self, pthread_rwlock_t *lock, uintptr_t site,
				  enum st_event id, bool writes)
{
	uint64_t now_ns = st_stamp(self);

	if ((writes ? st_try.wrlock : st_try.rdlock)(lock) == 0)
		return 0;
	st_tries_begin(self, id, EBUSY, site, lock, writer_of(lock), now_ns);
	return EBUSY;
}

static inline int trylock_traced(pthread_rwlock_t *lock, uintptr_t site, enum st_event id,
				 bool writes)
{
	struct st_thread *self = st_skips(id, lock, site) ? NULL : st_enter();
	int result = writes ? st_real.pthread_rwlock_trywrlock(lock)
			    : st_real.pthread_rwlock_tryrdlock(lock);

	if (st_unlikely(self == NULL))
		return result;
	if (result == EBUSY)
		st_tries_mark(lock);
	if (self->counts != NULL && result == EBUSY && !st_tries_continue(self, id, site, lock))
		result = trylock_failed(self, lock, site, id, writes);
	if (self->counts == NULL && result == 0) {
		st_sample_is_due(self);
		st_emit_acquired(self, id, site, lock);
	} else if (self->counts == NULL)
		st_emit_unwaited(self, id, result, site, lock, st_stamp(self));
	else if (result == 0)
		st_hold_begin(self, id, (enum st_counted)(st_counted_of[id] - 1), site, lock);
	else if (result != EBUSY)
		st_hold_refused(self, id, result, site, lock);
	st_leave(self);
	return result;
}

ST_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
	return trylock_traced(lock, ST_SITE(), ST_EVENT_rwlock_tryrdlock, false);
}

ST_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
	return trylock_traced(lock, ST_SITE(), ST_EVENT_rwlock_trywrlock, true);
}

/* Releases the thread's newest acquisition, for which no thread has waited. */
static ST_COLD int unlock_uncontended(struct st_thread *self, pthread_rwlock_t *lock,
				      uintptr_t site, uint32_t waits)
{
	int result;

	st_hold_take_back(self, ST_COUNTED_rwlock_unlock);
	result = st_real.pthread_rwlock_unlock(lock);
	if (st_unlikely(result != 0) || st_unlikely(st_hold_was_waited_for(lock, waits)))
		st_hold_was_contended(self, ST_EVENT_rwlock_unlock, result, site, lock);
	st_leave(self);
	return result;
}

static inline int unlock_recorded(struct st_thread *self, pthread_rwlock_t *lock, uintptr_t site)
{
	struct st_release release;
	int result;

	st_tries_unmark(self, lock);
	release = st_release_begin(self, ST_EVENT_rwlock_unlock, 0, site, lock, has_sleepers(lock));
	release.sleepers |= st_is_waited_for(lock);
	result = st_real.pthread_rwlock_unlock(lock);
	st_release_end(self, release, ST_EVENT_rwlock_unlock, 0, result, site, lock);
	st_leave(self);
	return result;
}

/* Only waits are recorded: hold.h. */
static __attribute__((noinline)) int unlock_counted(struct st_thread *self, pthread_rwlock_t *lock,
						    uintptr_t site)
{
	struct st_timing timing;
	uint32_t waits;
	int result;

	if (st_hold_is_uncontended(self, lock, &waits) && !has_sleepers(lock))
		return unlock_uncontended(self, lock, site, waits);
	if (st_hold_is_older(self, lock, &waits) && !has_sleepers(lock)) {
		result = st_real.pthread_rwlock_unlock(lock);
		st_hold_end_older(self, ST_EVENT_rwlock_unlock, result, waits, site, lock);
		st_leave(self);
		return result;
	}
	if (st_is_timed(self) && !has_sleepers(lock) &&
	    st_timed_begin(self, ST_EVENT_rwlock_unlock, lock, &timing)) {
		result = st_real.pthread_rwlock_unlock(lock);
		st_timed_end(self, &timing, ST_EVENT_rwlock_unlock, result, site, lock);
		st_leave(self);
		return result;
	}
	return unlock_recorded(self, lock, site);
}

ST_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	struct st_thread *self;

	if (st_skips(ST_EVENT_rwlock_unlock, lock, ST_SITE()))
		return st_real.pthread_rwlock_unlock(lock);
	self = st_enter();
	if (st_unlikely(self == NULL))
		return st_real.pthread_rwlock_unlock(lock);
	if (self->counts != NULL)
		return unlock_counted(self, lock, ST_SITE());
	return unlock_recorded(self, lock, ST_SITE());
}

ST_EXPORT int pthread_rwlock_init(pthread_rwlock_t *restrict lock,
				  const pthread_rwlockattr_t *restrict attributes)
{
	int result;

	st_ready();
	result = st_real.pthread_rwlock_init(lock, attributes);
	st_note(ST_EVENT_rwlock_init, result, ST_SITE(), lock,
		result == 0 ? lock->__data.__flags : 0);
	return result;
}

ST_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
	int result;

	st_ready();
	result = st_real.pthread_rwlock_destroy(lock);
	st_note(ST_EVENT_rwlock_destroy, result, ST_SITE(), lock, 0);
	return result;
}

ST_ALIAS(__pthread_rwlock_rdlock, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
ST_ALIAS(__pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))
ST_ALIAS(__pthread_rwlock_wrlock, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
ST_ALIAS(__pthread_rwlock_trywrlock, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))
ST_ALIAS(__pthread_rwlock_unlock, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))
ST_ALIAS(__pthread_rwlock_destroy, pthread_rwlock_destroy, (pthread_rwlock_t * lock), (lock))
ST_ALIAS(__pthread_rwlock_init, pthread_rwlock_init,
	 (pthread_rwlock_t *restrict lock, const pthread_rwlockattr_t *restrict attributes),
	 (lock, attributes))
