/* SPDX-License-Identifier: MIT */
/*
 * Spin locks. A waiter spins, so it stays on the CPU from X_begin to X. The lock does not store its
 * holder.
 */
#include <errno.h>

#include "record/tries.h"
#include "libc/real.h"
#include "record/writer.h"

#define SPIN_FREE 1 /* glibc's value on x86-64 */

int st_spin_look(pthread_spinlock_t *lock)
{
	return __atomic_load_n(lock, __ATOMIC_RELAXED) != SPIN_FREE ? EBUSY : EINVAL;
}

/* Acquired without a wait. The gate is closed, and opened here. */
static inline int lock_got(struct st_thread *self, const void *object, uintptr_t site)
{
	if (self->counts != NULL)
		st_hold_begin(self, ST_EVENT_spin_lock, ST_COUNTED_spin_lock, site, object);
	else
		st_emit_unwaited(self, ST_EVENT_spin_lock, 0, site, object, st_stamp(self));
	st_leave(self);
	return 0;
}

/* Another thread holds it and sees this waiter, or this thread acquires it now. */
static ST_COLD int lock_waits(struct st_thread *self, pthread_spinlock_t *lock, uintptr_t site)
{
	const void *object = (const void *)lock;
	uint64_t begin_ns;
	uint32_t generation;
	int result;

	generation = st_waits_begin(object);
	begin_ns = st_stamp(self);
	if (st_try.spin(lock) == 0) {
		st_waits_end(object, generation);
		return lock_got(self, object, site);
	}
	begin_ns = st_note_begin_at(self, ST_EVENT_spin_lock_begin, site, object, 0, begin_ns);
	result = st_real.pthread_spin_lock(lock);
	st_note_end(begin_ns, ST_EVENT_spin_lock, result, site, object, 0);
	st_waits_end(object, generation);
	return result;
}

ST_EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
	const void *object = (const void *)lock;
	struct st_thread *self =
	    st_skips(ST_EVENT_spin_lock, object, ST_SITE()) ? NULL : st_enter();
	int result, tried;

	if (st_unlikely(self == NULL))
		return st_real.pthread_spin_lock(lock);
	tried = st_try.spin(lock);
	if (st_likely(tried == 0))
		return lock_got(self, object, ST_SITE());
	if (tried == EBUSY)
		return lock_waits(self, lock, ST_SITE());
	st_leave(self);
	result = st_real.pthread_spin_lock(lock);
	st_note_end(0, ST_EVENT_spin_lock, result, ST_SITE(), object, 0);
	return result;
}

/* The first of a run of failed tries. As in lock_waits(). */
static ST_COLD int trylock_failed(struct st_thread *self, pthread_spinlock_t *lock, uintptr_t site)
{
	uint64_t now_ns = st_stamp(self);

	if (st_try.spin(lock) == 0)
		return 0;
	st_tries_begin(self, ST_EVENT_spin_trylock, EBUSY, site, (const void *)lock, 0, now_ns);
	return EBUSY;
}

ST_EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	const void *object = (const void *)lock;
	struct st_thread *self =
	    st_skips(ST_EVENT_spin_trylock, object, ST_SITE()) ? NULL : st_enter();
	int result;

	if (st_unlikely(self == NULL))
		return st_real.pthread_spin_trylock(lock);
	result = st_real.pthread_spin_trylock(lock);
	if (result == EBUSY)
		st_tries_mark(object);
	if (self->counts != NULL && result == EBUSY &&
	    !st_tries_continue(self, ST_EVENT_spin_trylock, ST_SITE(), object))
		result = trylock_failed(self, lock, ST_SITE());
	if (self->counts == NULL)
		st_emit_unwaited(self, ST_EVENT_spin_trylock, result, ST_SITE(), object,
				 st_stamp(self));
	else if (result == 0)
		st_hold_begin(self, ST_EVENT_spin_trylock, ST_COUNTED_spin_trylock, ST_SITE(),
			      object);
	else if (result != EBUSY)
		st_hold_refused(self, ST_EVENT_spin_trylock, result, ST_SITE(), object);
	st_leave(self);
	return result;
}

/* Releases the thread's newest acquisition, for which no thread spins. */
static int unlock_uncontended(struct st_thread *self, pthread_spinlock_t *lock, uintptr_t site,
			      uint32_t waits)
{
	const void *object = (const void *)lock;
	int result;

	st_hold_take_back(self, ST_COUNTED_spin_unlock);
	result = st_real.pthread_spin_unlock(lock);
	/* seq_cst: glibc's release is a plain store; the load of the waiters must not pass it. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (st_unlikely(result != 0) || st_unlikely(st_hold_was_waited_for(object, waits)))
		st_hold_was_contended(self, ST_EVENT_spin_unlock, result, site, object);
	st_leave(self);
	return result;
}

static inline int unlock_recorded(struct st_thread *self, pthread_spinlock_t *lock, uintptr_t site)
{
	const void *object = (const void *)lock;
	struct st_release release;
	int result;

	st_tries_unmark(self, object);
	release = st_release_begin(self, ST_EVENT_spin_unlock, 0, site, object, false);
	result = st_real.pthread_spin_unlock(lock);
	st_release_end(self, release, ST_EVENT_spin_unlock, 0, result, site, object);
	st_leave(self);
	return result;
}

/* Only waits are recorded: hold.h. */
static __attribute__((noinline)) int unlock_counted(struct st_thread *self,
						    pthread_spinlock_t *lock, uintptr_t site)
{
	const void *object = (const void *)lock;
	struct st_timing timing;
	uint32_t waits;
	int result;

	if (st_hold_is_uncontended(self, object, &waits))
		return unlock_uncontended(self, lock, site, waits);
	if (st_is_timed(self) && st_timed_begin(self, ST_EVENT_spin_unlock, object, &timing)) {
		result = st_real.pthread_spin_unlock(lock);
		/* seq_cst: as in unlock_uncontended() */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		st_timed_end(self, &timing, ST_EVENT_spin_unlock, result, site, object);
		st_leave(self);
		return result;
	}
	return unlock_recorded(self, lock, site);
}

ST_EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	const void *object = (const void *)lock;
	struct st_thread *self;

	if (st_skips(ST_EVENT_spin_unlock, object, ST_SITE()))
		return st_real.pthread_spin_unlock(lock);
	self = st_enter();
	if (st_unlikely(self == NULL))
		return st_real.pthread_spin_unlock(lock);
	if (self->counts != NULL)
		return unlock_counted(self, lock, ST_SITE());
	return unlock_recorded(self, lock, ST_SITE());
}

ST_EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
	int result;

	st_ready();
	result = st_real.pthread_spin_init(lock, shared);
	st_note(ST_EVENT_spin_init, result, ST_SITE(), (const void *)lock, (uint32_t)shared);
	return result;
}

ST_EXPORT int pthread_spin_destroy(pthread_spinlock_t *lock)
{
	int result;

	st_ready();
	result = st_real.pthread_spin_destroy(lock);
	st_note(ST_EVENT_spin_destroy, result, ST_SITE(), (const void *)lock, 0);
	return result;
}
