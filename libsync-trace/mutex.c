/* SPDX-License-Identifier: MIT */
/*
 * Mutexes.
 *
 * A lock is tried first; only when it is taken is a wait announced, with its owner, and the real
 * call made.  Of what trylock says only success is believed; every other answer is fetched from the
 * call that the program made, so an errorcheck mutex still says EDEADLK, a recursive one EAGAIN, a
 * bad argument EINVAL.  A free mutex of the plain kinds is taken alike by pthread_mutex_lock() and
 * pthread_mutex_trylock(), and a timed lock of one does not look at its time.
 *
 * The other kinds (robust, priority inheritance or protection) are looked at instead.  There
 * glibc's trylock is not the first half of its lock: it takes a mutex above its ceiling that lock
 * refuses, and it leaves an unrecoverable one locked for ever.  Should such a mutex be taken
 * between our look and the call, that wait has no begin.
 */
#include <errno.h>

#include "c11.h"
#include "real.h"
#include "writer.h"

#ifndef __GLIBC__
#error "the owner of a mutex is read from glibc's pthread_mutex_t"
#endif

/* Of glibc's mutex kinds; the first two keep their owner's tid in the futex itself. */
#define KIND_ROBUST	 16
#define KIND_INHERIT	 32
#define KIND_PROTECT	 64
#define KIND_TYPE_MASK	 3
#define FUTEX_OWNER_MASK 0x3fffffffu
#define FUTEX_OWNER_GONE 0x40000000u
#define FUTEX_SLEEPERS	 0x80000000u
/* The other two: above that threads sleep on it. */
#define TAKEN	     1
#define PROTECT_MASK 0x7ffffu

static int mutex_kind(const pthread_mutex_t *mutex)
{
	return __atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED);
}

static bool mutex_is_plain(const pthread_mutex_t *mutex)
{
	return (mutex_kind(mutex) & (KIND_ROBUST | KIND_INHERIT | KIND_PROTECT)) == 0;
}

/* 0: nobody, nobody any more, or not known. */
static uint32_t mutex_owner(const pthread_mutex_t *mutex)
{
	uint32_t word = (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);

	if ((mutex_kind(mutex) & (KIND_ROBUST | KIND_INHERIT)) == 0)
		return (uint32_t)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
	return (word & FUTEX_OWNER_GONE) != 0 ? 0 : word & FUTEX_OWNER_MASK;
}

int st_mutex_look(pthread_mutex_t *mutex)
{
	return mutex_owner(mutex) != 0 ? EBUSY : EINVAL;
}

/* Would its owner's lock fail at once, or count, rather than wait? */
static bool is_relock(const struct st_thread *self, const pthread_mutex_t *mutex, uint32_t owner)
{
	int type = mutex_kind(mutex) & KIND_TYPE_MASK;

	return owner == self->stream.tid &&
	       (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK);
}

static bool special_has_sleepers(const pthread_mutex_t *mutex, uint32_t word)
{
	if ((mutex_kind(mutex) & (KIND_ROBUST | KIND_INHERIT)) != 0)
		return (word & FUTEX_SLEEPERS) != 0;
	return (word & PROTECT_MASK) > TAKEN; /* its ceiling stands above */
}

static inline bool mutex_has_sleepers(const pthread_mutex_t *mutex)
{
	uint32_t word = (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);

	return st_likely(mutex_is_plain(mutex)) ? word > TAKEN : special_has_sleepers(mutex, word);
}

/* Is it of a kind that only its owner may unlock, and owned by another or by nobody? */
static bool refuses_unlock(const struct st_thread *self, const pthread_mutex_t *mutex)
{
	int kind = mutex_kind(mutex), type = kind & KIND_TYPE_MASK;

	return (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK ||
		(kind & (KIND_ROBUST | KIND_INHERIT)) != 0) &&
	       mutex_owner(mutex) != self->stream.tid;
}

/* What the program called, for the long way. */
struct call {
	enum st_event begin, done;
	clockid_t clock;
	const struct timespec *deadline;
	bool timed, clocked;
};

static int call_real(pthread_mutex_t *mutex, const struct call *call)
{
	if (call->clocked)
		return st_real.pthread_mutex_clocklock(mutex, call->clock, call->deadline);
	if (call->timed)
		return st_real.pthread_mutex_timedlock(mutex, call->deadline);
	return st_real.pthread_mutex_lock(mutex);
}

/* After a try that did not get it, or after none. */
static ST_COLD int lock_slowly(struct st_thread *self, pthread_mutex_t *mutex, uintptr_t site,
			       bool taken, const struct call *call)
{
	uint32_t owner = mutex_owner(mutex);
	uint64_t begin_ns = 0;
	int result;

	if (self == NULL)
		return call_real(mutex, call);
	if (taken && !is_relock(self, mutex, owner))
		begin_ns = st_note_begin(self, call->begin, site, mutex, owner);
	else
		st_leave(self);
	result = call_real(mutex, call);
	st_note_end(begin_ns, call->done, result, site, mutex, 0);
	return result;
}

static const struct call lock_call = {
    ST_EVENT_mutex_lock_begin, ST_EVENT_mutex_lock, 0, NULL, false, false};

static int lock_recorded(pthread_mutex_t *mutex, uintptr_t site)
{
	struct st_thread *self = st_enter();
	int tried;

	if (st_unlikely(self == NULL))
		return st_real.pthread_mutex_lock(mutex);
	if (st_unlikely(!mutex_is_plain(mutex)))
		return lock_slowly(self, mutex, site, mutex_owner(mutex) != 0, &lock_call);
	tried = st_try.mutex(mutex);
	if (st_unlikely(tried != 0))
		return lock_slowly(self, mutex, site, tried == EBUSY, &lock_call);
	st_emit_unwaited(self, ST_EVENT_mutex_lock, 0, site, mutex, st_stamp(self));
	st_leave(self);
	return 0;
}

static int unlock_recorded(pthread_mutex_t *mutex, uintptr_t site)
{
	struct st_thread *self = st_enter();
	struct st_release release;
	int result, expected = 0;

	if (st_unlikely(self == NULL))
		return st_real.pthread_mutex_unlock(mutex);
	if (st_unlikely(self->ust) && refuses_unlock(self, mutex))
		expected = ST_REFUSED;
	release = st_release_begin(self, ST_EVENT_mutex_unlock, expected, site, mutex,
				   mutex_has_sleepers(mutex));
	result = st_real.pthread_mutex_unlock(mutex);
	st_release_end(self, release, ST_EVENT_mutex_unlock, 0, result, site, mutex);
	st_leave(self);
	return result;
}

static int trylock_recorded(pthread_mutex_t *mutex, uintptr_t site)
{
	struct st_thread *self = st_enter();
	int result;

	if (st_unlikely(self == NULL))
		return st_real.pthread_mutex_trylock(mutex);
	result = st_real.pthread_mutex_trylock(mutex);
	st_emit_unwaited(self, ST_EVENT_mutex_trylock, result, site, mutex, st_stamp(self));
	st_leave(self);
	return result;
}

/* --- where not all is recorded --------------------------------------------------------------- */

static ST_COLD int lock_missed(pthread_mutex_t *mutex, uintptr_t site, int tried)
{
	return lock_slowly(st_enter(), mutex, site, tried == EBUSY, &lock_call);
}

/*
 * A plain one.  What its failure takes is kept in memory: registers to keep it in would have to be
 * saved by all that succeed.
 */
static inline int lock_or_count(pthread_mutex_t *mutex, uintptr_t site, uint64_t *counts)
{
	pthread_mutex_t *volatile kept_mutex = mutex;
	volatile uintptr_t kept_site = site;
	uint64_t *volatile kept_counts = counts;
	int tried = st_try.mutex(mutex);

	if (st_unlikely(tried != 0))
		return lock_missed(kept_mutex, kept_site, tried);
	st_count(kept_counts, ST_COUNTED_mutex_lock);
	return 0;
}

static __attribute__((noinline)) int lock_counted(pthread_mutex_t *mutex, uintptr_t site,
						  uint64_t *counts)
{
	return mutex_is_plain(mutex) ? lock_or_count(mutex, site, counts)
				     : lock_recorded(mutex, site);
}

static inline int lock_wanted(pthread_mutex_t *mutex, uintptr_t site)
{
	uint64_t *counts = st_self->counts;

	return counts != NULL ? lock_counted(mutex, site, counts) : lock_recorded(mutex, site);
}

static __attribute__((noinline)) int lock_unknown(pthread_mutex_t *mutex, uintptr_t site)
{
	return st_skips_object(ST_EVENT_mutex_lock, mutex, site) ? st_real.pthread_mutex_lock(mutex)
								 : lock_wanted(mutex, site);
}

static __attribute__((noinline)) int lock_picked(pthread_mutex_t *mutex, uintptr_t site)
{
	switch (st_wants(ST_EVENT_mutex_lock, mutex)) {
	case ST_WANTED:
		return lock_wanted(mutex, site);
	case ST_LEFT_OUT:
		return st_real.pthread_mutex_lock(mutex);
	default:
		return lock_unknown(mutex, site);
	}
}

/* Each way apart from the others, so that none saves registers for another. */
static inline int lock_traced(pthread_mutex_t *mutex, uintptr_t site)
{
	struct st_thread *self = st_self;

	if (st_likely(!self->selective))
		return lock_recorded(mutex, site);
	return self->sure_counts != NULL ? lock_counted(mutex, site, self->sure_counts)
					 : lock_picked(mutex, site);
}

static __attribute__((noinline)) int unlock_counted(pthread_mutex_t *mutex, uintptr_t site,
						    uint64_t *counts)
{
	if (mutex_has_sleepers(mutex))
		return unlock_recorded(mutex, site);
	st_count(counts, ST_COUNTED_mutex_unlock);
	return st_real.pthread_mutex_unlock(mutex);
}

static inline int unlock_wanted(pthread_mutex_t *mutex, uintptr_t site)
{
	uint64_t *counts = st_self->counts;

	return counts != NULL ? unlock_counted(mutex, site, counts) : unlock_recorded(mutex, site);
}

static __attribute__((noinline)) int unlock_unknown(pthread_mutex_t *mutex, uintptr_t site)
{
	return st_skips_object(ST_EVENT_mutex_unlock, mutex, site)
		   ? st_real.pthread_mutex_unlock(mutex)
		   : unlock_wanted(mutex, site);
}

static __attribute__((noinline)) int unlock_picked(pthread_mutex_t *mutex, uintptr_t site)
{
	switch (st_wants(ST_EVENT_mutex_unlock, mutex)) {
	case ST_WANTED:
		return unlock_wanted(mutex, site);
	case ST_LEFT_OUT:
		return st_real.pthread_mutex_unlock(mutex);
	default:
		return unlock_unknown(mutex, site);
	}
}

static inline int unlock_traced(pthread_mutex_t *mutex, uintptr_t site)
{
	struct st_thread *self = st_self;

	if (st_likely(!self->selective))
		return unlock_recorded(mutex, site);
	return self->sure_counts != NULL ? unlock_counted(mutex, site, self->sure_counts)
					 : unlock_picked(mutex, site);
}

static __attribute__((noinline)) int trylock_picked(pthread_mutex_t *mutex, uintptr_t site)
{
	uint64_t *counts;

	if (st_skips_any(ST_EVENT_mutex_trylock, mutex, site))
		return st_real.pthread_mutex_trylock(mutex);
	counts = st_self->counts;
	if (counts == NULL)
		return trylock_recorded(mutex, site);
	st_count(counts, ST_COUNTED_mutex_trylock);
	return st_real.pthread_mutex_trylock(mutex);
}

static inline int trylock_traced(pthread_mutex_t *mutex, uintptr_t site)
{
	return st_likely(!st_self->selective) ? trylock_recorded(mutex, site)
					      : trylock_picked(mutex, site);
}

ST_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return lock_traced(mutex, ST_SITE());
}

ST_EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return unlock_traced(mutex, ST_SITE());
}

ST_EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	return trylock_traced(mutex, ST_SITE());
}

static int lock_until(pthread_mutex_t *mutex, uintptr_t site, const struct call *call)
{
	struct st_thread *self = st_skips(call->done, mutex, site) ? NULL : st_enter();
	int tried;

	if (self == NULL)
		return call_real(mutex, call);
	/* An unknown clock is refused even for a free mutex. */
	if (!mutex_is_plain(mutex) ||
	    (call->clock != CLOCK_REALTIME && call->clock != CLOCK_MONOTONIC))
		return lock_slowly(self, mutex, site, mutex_owner(mutex) != 0, call);
	tried = st_try.mutex(mutex);
	if (tried != 0)
		return lock_slowly(self, mutex, site, tried == EBUSY, call);
	if (self->counts != NULL)
		st_count_event(self->counts, call->done);
	else
		st_emit_unwaited(self, call->done, 0, site, mutex, st_stamp(self));
	st_leave(self);
	return 0;
}

ST_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline)
{
	struct call call = {ST_EVENT_mutex_timedlock_begin,
			    ST_EVENT_mutex_timedlock,
			    CLOCK_REALTIME,
			    deadline,
			    true,
			    false};

	return lock_until(mutex, ST_SITE(), &call);
}

ST_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				      const struct timespec *deadline)
{
	struct call call = {
	    ST_EVENT_mutex_timedlock_begin, ST_EVENT_mutex_timedlock, clock, deadline, true, true};

	return lock_until(mutex, ST_SITE(), &call);
}

ST_EXPORT int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
	int result;

	st_ready();
	result = st_real.pthread_mutex_init(mutex, attributes);
	st_note(ST_EVENT_mutex_init, result, ST_SITE(), mutex,
		result == 0 ? (uint32_t)(mutex_kind(mutex) & KIND_TYPE_MASK) : 0);
	return result;
}

ST_EXPORT int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	int result;

	st_ready();
	result = st_real.pthread_mutex_destroy(mutex);
	st_note(ST_EVENT_mutex_destroy, result, ST_SITE(), mutex, 0);
	return result;
}

/* --- C11's, which are these in glibc (see c11.h) -------------------------------------------------
 */

ST_EXPORT int mtx_lock(mtx_t *mutex)
{
	return st_c11_known() ? st_c11_result(lock_traced((pthread_mutex_t *)mutex, ST_SITE()))
			      : st_real.mtx_lock(mutex);
}

ST_EXPORT int mtx_unlock(mtx_t *mutex)
{
	return st_c11_known() ? st_c11_result(unlock_traced((pthread_mutex_t *)mutex, ST_SITE()))
			      : st_real.mtx_unlock(mutex);
}

ST_EXPORT int mtx_trylock(mtx_t *mutex)
{
	return st_c11_known() ? st_c11_result(trylock_traced((pthread_mutex_t *)mutex, ST_SITE()))
			      : st_real.mtx_trylock(mutex);
}

ST_EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict deadline)
{
	struct call call = {ST_EVENT_mutex_timedlock_begin,
			    ST_EVENT_mutex_timedlock,
			    CLOCK_REALTIME,
			    deadline,
			    true,
			    false};

	if (!st_c11_known())
		return st_real.mtx_timedlock(mutex, deadline);
	return st_c11_result(lock_until((pthread_mutex_t *)mutex, ST_SITE(), &call));
}

ST_EXPORT int mtx_init(mtx_t *mutex, int type)
{
	bool known = st_c11_known();
	int result = st_real.mtx_init(mutex, type);
	pthread_mutex_t *made = (pthread_mutex_t *)mutex;

	if (known)
		st_note(ST_EVENT_mutex_init, st_c11_error(result), ST_SITE(), mutex,
			result == thrd_success ? (uint32_t)(mutex_kind(made) & KIND_TYPE_MASK) : 0);
	return result;
}

ST_EXPORT void mtx_destroy(mtx_t *mutex)
{
	bool known = st_c11_known();

	st_real.mtx_destroy(mutex);
	if (known)
		st_note(ST_EVENT_mutex_destroy, 0, ST_SITE(), mutex, 0);
}
