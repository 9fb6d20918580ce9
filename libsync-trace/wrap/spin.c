/* SPDX-License-Identifier: MIT */
/*
 * Spin locks. A waiter spins, so it stays on the CPU from X_begin to X. The lock does not store its
 * holder.
 */
#include <errno.h>

#include "libc/real.h"
#include "wrap/plain_lock.h"

#define SPIN_FREE 1 /* glibc's value on x86-64 */

int st_spin_look(pthread_spinlock_t *lock)
{
	return __atomic_load_n(lock, __ATOMIC_RELAXED) != SPIN_FREE ? EBUSY : EINVAL;
}

static inline int lock_got(struct st_thread *self, const void *object, uintptr_t site)
{
	st_plain_got(self, ST_EVENT_spin_lock, ST_COUNTED_spin_lock, object, site);
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
	if (self->counts == NULL && result == 0) {
		st_sample_is_due(self);
		st_emit_acquired(self, ST_EVENT_spin_trylock, ST_SITE(), object);
	} else if (self->counts == NULL)
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

static int unlock_real(void *lock)
{
	return st_real.pthread_spin_unlock(lock);
}

ST_EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	const struct st_plain_release release = {ST_EVENT_spin_unlock, ST_COUNTED_spin_unlock,
						 unlock_real, (void *)lock};

	return st_plain_unlock(&release, (const void *)lock, ST_SITE());
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
