/* SPDX-License-Identifier: MIT */
/*
 * Spin locks.  Who waits for one runs all the time; X_begin to X is that time, and who holds the
 * lock the lock does not know.
 */
#include <errno.h>

#include "real.h"
#include "writer.h"

#define SPIN_FREE 1 /* glibc's, on x86-64 */

int st_spin_look(pthread_spinlock_t *lock)
{
	return __atomic_load_n(lock, __ATOMIC_RELAXED) != SPIN_FREE ? EBUSY : EINVAL;
}

ST_EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
	struct st_thread *self =
	    st_skips(ST_EVENT_spin_lock, (const void *)lock, ST_SITE()) ? NULL : st_enter();
	uint64_t begin_ns = 0;
	int result, tried;

	if (st_unlikely(self == NULL))
		return st_real.pthread_spin_lock(lock);
	tried = st_try.spin(lock);
	if (st_likely(tried == 0)) {
		if (self->counts != NULL)
			st_count(self->counts, ST_COUNTED_spin_lock);
		else
			st_emit_unwaited(self, ST_EVENT_spin_lock, 0, ST_SITE(), (const void *)lock,
					 st_stamp(self));
		st_leave(self);
		return 0;
	}
	if (tried == EBUSY)
		begin_ns =
		    st_note_begin(self, ST_EVENT_spin_lock_begin, ST_SITE(), (const void *)lock, 0);
	else
		st_leave(self);
	result = st_real.pthread_spin_lock(lock);
	st_note_end(begin_ns, ST_EVENT_spin_lock, result, ST_SITE(), (const void *)lock, 0);
	return result;
}

ST_EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	uint64_t *counts;
	struct st_thread *self;
	int result;

	if (st_skips(ST_EVENT_spin_trylock, (const void *)lock, ST_SITE()))
		return st_real.pthread_spin_trylock(lock);
	counts = st_counts();
	if (counts != NULL) {
		st_count(counts, ST_COUNTED_spin_trylock);
		return st_real.pthread_spin_trylock(lock);
	}
	self = st_enter();
	if (st_unlikely(self == NULL))
		return st_real.pthread_spin_trylock(lock);
	result = st_real.pthread_spin_trylock(lock);
	st_emit_unwaited(self, ST_EVENT_spin_trylock, result, ST_SITE(), (const void *)lock,
			 st_stamp(self));
	st_leave(self);
	return result;
}

ST_EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	uint64_t *counts;
	const void *object = (const void *)lock;
	struct st_thread *self;
	struct st_release release;
	int result;

	if (st_skips(ST_EVENT_spin_unlock, (const void *)lock, ST_SITE()))
		return st_real.pthread_spin_unlock(lock);
	counts = st_counts();
	/* Who spins on it nobody knows. */
	if (counts != NULL) {
		st_count(counts, ST_COUNTED_spin_unlock);
		return st_real.pthread_spin_unlock(lock);
	}
	self = st_enter();
	if (st_unlikely(self == NULL))
		return st_real.pthread_spin_unlock(lock);
	release = st_release_begin(self, ST_EVENT_spin_unlock, 0, ST_SITE(), object, false);
	result = st_real.pthread_spin_unlock(lock);
	st_release_end(self, release, ST_EVENT_spin_unlock, 0, result, ST_SITE(), object);
	st_leave(self);
	return result;
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
