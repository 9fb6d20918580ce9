/* SPDX-License-Identifier: MIT */
/*
 * Mutexes.
 *
 * A lock is tried first. Only if the mutex is taken is a wait announced, with its owner, and the
 * real call made. A try counts only if it succeeds; every other result comes from the call that the
 * program made, so an errorcheck mutex still returns EDEADLK, a recursive one EAGAIN, a bad
 * argument EINVAL. pthread_mutex_lock() and pthread_mutex_trylock() acquire a free mutex of the
 * plain kinds in the same way, and a timed lock of one does not check its time.
 *
 * The state of the other kinds (robust, priority inheritance or protection) is read instead. For
 * them glibc's trylock is not the first half of its lock: it takes a mutex above its ceiling that
 * lock refuses, and it leaves an unrecoverable one locked for ever. If such a mutex is taken
 * between the read and the call, that wait has no begin.
 *
 * The functions lock_*, trylock_* and unlock_* by suffix, from the fastest path to the slowest:
 *
 *   _fully     everything is recorded and no special case applies (self->special is 0)
 *   _special   self->special is not 0: selects _counted or _traced
 *   _traced    called by _special and C11's functions: selects _recorded, _counted or _picked
 *   _recorded  the general form of _fully
 *   _counted   only waits are recorded (hold.h)
 *   _picked    the object may be excluded: looks up the decision
 *   _unknown   _picked found no decision for the object: makes one
 *   _wanted    the object is recorded: selects _recorded or _counted
 *
 *   lock_slowly       the try failed, or none was made (kinds that are not plain)
 *   lock_waits        another thread holds the mutex: announces the wait and waits
 *   lock_got          acquired without a wait, outside of the fast paths
 *   lock_noted        lock_fully() acquired it, but its event needs the slow path
 *   lock_until        the timed locks
 *   trylock_failed    from trylock_picked(): the first of a run of failed tries (tries.h)
 *   unlock_slowly     threads sleep on it, the hold is timed or not the newest, or its event needs
 *                     the slow path
 *   unlock_other      from unlock_fully(): the last event has another object, or none to refer to
 *   unlock_refused    the call failed, or the process was forked in between
 *   unlock_contended  from unlock_counted(): the call failed, or a thread has begun to wait
 */
#include <errno.h>

#include "wrap/c11.h"
#include "wrap/mutex_state.h"
#include "record/tries.h"
#include "libc/real.h"
#include "record/writer.h"

int st_mutex_look(pthread_mutex_t *mutex)
{
	return mutex_owner(mutex) != 0 ? EBUSY : EINVAL;
}

static bool special_has_sleepers(const pthread_mutex_t *mutex, uint32_t word)
{
	if ((mutex_kind(mutex) & (KIND_ROBUST | KIND_INHERIT)) != 0)
		return (word & FUTEX_SLEEPERS) != 0;
	return (word & PROTECT_MASK) > TAKEN; /* its ceiling is in the upper bits */
}

static inline bool mutex_has_sleepers(const pthread_mutex_t *mutex)
{
	uint32_t word = (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);

	return st_likely(mutex_is_plain(mutex)) ? word > TAKEN : special_has_sleepers(mutex, word);
}

/* Returns true if only its owner may unlock it, and the owner is not the calling thread. */
static bool refuses_unlock(const struct st_thread *self, const pthread_mutex_t *mutex)
{
	int kind = mutex_kind(mutex), type = kind & KIND_TYPE_MASK;

	return (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK ||
		(kind & (KIND_ROBUST | KIND_INHERIT)) != 0) &&
	       mutex_owner(mutex) != self->stream.tid;
}

/* The call that the program made, as the slow path passes it on. */
struct call {
	enum st_event begin, done;
	clockid_t clock;
	const struct timespec *deadline;
	bool timed, clocked;
};

static bool is_known_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static int call_real(pthread_mutex_t *mutex, const struct call *call)
{
	if (call->clocked)
		return st_real.pthread_mutex_clocklock(mutex, call->clock, call->deadline);
	if (call->timed)
		return st_real.pthread_mutex_timedlock(mutex, call->deadline);
	return st_real.pthread_mutex_lock(mutex);
}

/* Acquired without a wait; st_sample_is_due() was called. The gate is closed, and opened here. */
static int lock_got(struct st_thread *self, pthread_mutex_t *mutex, uintptr_t site,
		    enum st_event done)
{
	if (self->counts != NULL)
		st_hold_begin_slowly(self, done, site, mutex);
	else
		st_emit_acquired(self, done, site, mutex);
	st_leave(self);
	return 0;
}

/*
 * Another thread holds it. A releasing thread sees this waiter, or this thread acquires the mutex
 * now. The owner is read after the try: that thread then sees the waiter.
 */
static int lock_waits(struct st_thread *self, pthread_mutex_t *mutex, uintptr_t site,
		      uint32_t owner, const struct call *call)
{
	uint64_t begin_ns;
	uint32_t now, generation;
	int result;

	generation = st_waits_begin(mutex);
	begin_ns = st_stamp(self);
	if (mutex_is_plain(mutex) && is_known_clock(call->clock) && st_try.mutex(mutex) == 0) {
		st_waits_end(mutex, generation);
		st_sample_is_due(self);
		return lock_got(self, mutex, site, call->done);
	}
	now = mutex_owner(mutex);
	if (now != 0)
		owner = now;
	begin_ns = st_note_begin_at(self, call->begin, site, mutex, owner, begin_ns);
	result = call_real(mutex, call);
	st_note_end(begin_ns, call->done, result, site, mutex, 0);
	st_waits_end(mutex, generation);
	return result;
}

/* Called after a failed try, or without one. */
static ST_COLD int lock_slowly(struct st_thread *self, pthread_mutex_t *mutex, uintptr_t site,
			       bool taken, const struct call *call)
{
	uint32_t owner = mutex_owner(mutex);
	int result;

	if (self == NULL)
		return call_real(mutex, call);
	if (taken && !mutex_is_relock(self, mutex, owner))
		return lock_waits(self, mutex, site, owner, call);
	st_leave(self);
	result = call_real(mutex, call);
	st_note_end(0, call->done, result, site, mutex, 0);
	return result;
}

static const struct call lock_call = {
    ST_EVENT_mutex_lock_begin, ST_EVENT_mutex_lock, 0, NULL, false, false};

/* The fast path acquired it, but cannot write the event. */
static ST_COLD int lock_noted(struct st_thread *self, pthread_mutex_t *mutex,
			      const volatile uintptr_t *place)
{
	return lock_got(self, mutex, st_caller(place), ST_EVENT_mutex_lock);
}

static ST_COLD int lock_slowly_at(struct st_thread *self, pthread_mutex_t *mutex,
				  const volatile uintptr_t *place, bool taken)
{
	return lock_slowly(self, mutex, st_caller(place), taken, &lock_call);
}

static int lock_recorded(pthread_mutex_t *mutex, uintptr_t site)
{
	struct st_thread *self = st_enter();
	int tried;

	st_turn_site = site;
	if (st_unlikely(self == NULL))
		return st_real.pthread_mutex_lock(mutex);
	if (st_unlikely(!mutex_is_plain(mutex)))
		return lock_slowly(self, mutex, site, mutex_owner(mutex) != 0, &lock_call);
	tried = st_try.mutex(mutex);
	if (st_unlikely(tried != 0))
		return lock_slowly(self, mutex, site, tried == EBUSY, &lock_call);
	st_sample_is_due(self);
	st_emit_acquired(self, ST_EVENT_mutex_lock, site, mutex);
	st_leave(self);
	return 0;
}

static ST_COLD int lock_recorded_at(pthread_mutex_t *mutex, const volatile uintptr_t *place)
{
	return lock_recorded(mutex, st_caller(place));
}

/* The gate is closed. */
static __attribute__((noinline)) int unlock_slowly(struct st_thread *self, pthread_mutex_t *mutex,
						   uintptr_t site)
{
	struct st_release release;
	int result, expected = 0;
	struct st_timing timing;
	uint32_t waits;

	/* As in unlock_counted(). */
	if (!st_is_timed(self) && (unsigned)mutex->__data.__lock <= TAKEN &&
	    (uint32_t)mutex->__data.__owner == self->stream.tid &&
	    st_hold_is_older(self, mutex, &waits)) {
		result = st_real.pthread_mutex_unlock(mutex);
		st_hold_end_older(self, ST_EVENT_mutex_unlock, result, waits, site, mutex);
		st_leave(self);
		return result;
	}
	/* Another thread may have unlocked it, and locked it since. */
	if (st_is_timed(self) && !mutex_has_sleepers(mutex) &&
	    mutex_owner(mutex) == self->stream.tid &&
	    st_timed_begin(self, ST_EVENT_mutex_unlock, mutex, &timing)) {
		result = st_real.pthread_mutex_unlock(mutex);
		st_timed_end(self, &timing, ST_EVENT_mutex_unlock, result, site, mutex);
		st_leave(self);
		return result;
	}
	if (st_unlikely(self->ust) && refuses_unlock(self, mutex))
		expected = ST_REFUSED;
	st_tries_unmark(self, mutex);
	release = st_release_begin(self, ST_EVENT_mutex_unlock, expected, site, mutex,
				   mutex_has_sleepers(mutex));
	release.sleepers |= st_is_waited_for(mutex);
	result = st_real.pthread_mutex_unlock(mutex);
	st_release_end(self, release, ST_EVENT_mutex_unlock, 0, result, site, mutex);
	if (release.sleepers)
		self->last_object = NULL; /* see unlock_other() */
	st_leave(self);
	return result;
}

static int unlock_recorded(pthread_mutex_t *mutex, uintptr_t site)
{
	struct st_thread *self = st_enter();

	return st_likely(self != NULL) ? unlock_slowly(self, mutex, site)
				       : st_real.pthread_mutex_unlock(mutex);
}

static ST_COLD int unlock_recorded_at(pthread_mutex_t *mutex, const volatile uintptr_t *place)
{
	return unlock_recorded(mutex, st_caller(place));
}

static __attribute__((noinline)) int
unlock_in_wrapper(struct st_thread *self, pthread_mutex_t *mutex, const volatile uintptr_t *place)
{
	return unlock_slowly(self, mutex, st_caller_find(place));
}

/* Saves no register, like lock_held(). */
static __attribute__((noinline)) int
unlock_slowly_at(struct st_thread *self, pthread_mutex_t *mutex, const volatile uintptr_t *place)
{
	uintptr_t site = *place;

	return st_caller_is_site(site) ? unlock_slowly(self, mutex, site)
				       : unlock_in_wrapper(self, mutex, place);
}

/* The call failed, or a clone() in a handler that came in between led to a zeroed page. */
static ST_COLD int unlock_refused(struct st_thread *self, pthread_mutex_t *mutex,
				  const volatile uintptr_t *place, int result)
{
	st_emit_parts(self, ST_EVENT_mutex_unlock, result, st_caller(place), mutex, 0,
		      st_stamp(self));
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
	if (result == EBUSY)
		st_tries_mark(mutex);
	if (result == 0 && st_sample_is_due(self))
		st_sample_note(self, site, mutex, st_stamp(self));
	st_emit_unwaited(self, ST_EVENT_mutex_trylock, result, site, mutex, st_stamp(self));
	st_leave(self);
	return result;
}

/*
 * --- where not everything is recorded ----------------------------------------------------------
 */

static __attribute__((noinline)) void lock_held_in_wrapper(struct st_thread *self,
							   pthread_mutex_t *mutex,
							   const volatile uintptr_t *place)
{
	st_hold_begin_again(self, ST_EVENT_mutex_lock, ST_COUNTED_mutex_lock, st_caller_find(place),
			    mutex);
}

/* A new call site, one in a wrapper, or a hold to be timed. */
static __attribute__((noinline)) void lock_held(struct st_thread *self, pthread_mutex_t *mutex,
						const volatile uintptr_t *place)
{
	uintptr_t site = *place;

	if (st_caller_is_site(site))
		st_hold_begin_slowly(self, ST_EVENT_mutex_lock, site, mutex);
	else
		lock_held_in_wrapper(self, mutex, place);
}

/* Only waits are recorded: hold.h. */
static inline int lock_counted(pthread_mutex_t *mutex, const volatile uintptr_t *place,
			       struct st_thread *self)
{
	pthread_mutex_t *volatile kept = mutex;
	const volatile uintptr_t *volatile kept_place = place;
	int tried;

	if (st_unlikely(st_gate_shut(&self->gate))) {
		self = st_enter_slowly();
		if (self == NULL)
			return st_real.pthread_mutex_lock(mutex);
	}
	if (st_unlikely(mutex->__data.__kind & KINDS_SPECIAL))
		return lock_slowly_at(self, mutex, place, mutex_owner(mutex) != 0);
	tried = st_try.mutex(mutex);
	if (st_unlikely(tried != 0))
		return lock_slowly_at(self, kept, kept_place, tried == EBUSY);
	if (st_sample_is_due(self) ||
	    st_unlikely(!st_hold_begin_quickly(self, ST_EVENT_mutex_lock, ST_COUNTED_mutex_lock,
					       kept_place, kept)))
		lock_held(self, kept, kept_place);
	st_leave(self);
	return 0;
}

static inline int lock_wanted(pthread_mutex_t *mutex, const volatile uintptr_t *place)
{
	struct st_thread *self = st_self;

	return self->counts != NULL ? lock_counted(mutex, place, self)
				    : lock_recorded_at(mutex, place);
}

static __attribute__((noinline)) int lock_unknown(pthread_mutex_t *mutex,
						  const volatile uintptr_t *place)
{
	return st_skips_object(ST_EVENT_mutex_lock, mutex, st_caller(place))
		   ? st_real.pthread_mutex_lock(mutex)
		   : lock_wanted(mutex, place);
}

static __attribute__((noinline)) int lock_picked(pthread_mutex_t *mutex,
						 const volatile uintptr_t *place)
{
	switch (st_wants(ST_EVENT_mutex_lock, mutex)) {
	case ST_WANTED:
		return lock_wanted(mutex, place);
	case ST_LEFT_OUT:
		return st_real.pthread_mutex_lock(mutex);
	default:
		return lock_unknown(mutex, place);
	}
}

/* The paths are separate functions, so that none saves registers for another. */
static inline int lock_traced(pthread_mutex_t *mutex, const volatile uintptr_t *place)
{
	struct st_thread *self = st_self;

	if (st_likely(!self->selective))
		return lock_recorded_at(mutex, place);
	return self->sure_counts != NULL ? lock_counted(mutex, place, self)
					 : lock_picked(mutex, place);
}

static ST_COLD int unlock_contended(struct st_thread *self, pthread_mutex_t *mutex,
				    const volatile uintptr_t *place, int result)
{
	st_hold_was_contended(self, ST_EVENT_mutex_unlock, result, st_caller(place), mutex);
	st_leave(self);
	return result;
}

static inline int unlock_counted(pthread_mutex_t *mutex, const volatile uintptr_t *place,
				 struct st_thread *self)
{
	pthread_mutex_t *volatile kept = mutex;
	const volatile uintptr_t *volatile kept_place = place;
	volatile uint32_t kept_waits;
	uint32_t waits;
	int result;

	if (st_unlikely(st_gate_shut(&self->gate))) {
		self = st_enter_slowly();
		if (self == NULL)
			return st_real.pthread_mutex_unlock(mutex);
		if (self->counts == NULL)
			return unlock_slowly_at(self, mutex, place);
	}
	/* As in unlock_fully(). Another thread may have unlocked it, and locked it since. */
	if (st_unlikely(!st_hold_is_uncontended(self, mutex, &waits)) ||
	    st_unlikely((uint32_t)mutex->__data.__owner != self->stream.tid) ||
	    st_unlikely((unsigned)mutex->__data.__lock > TAKEN))
		return unlock_slowly_at(self, mutex, place);
	kept_waits = waits;
	st_hold_take_back(self, ST_COUNTED_mutex_unlock);
	result = st_real.pthread_mutex_unlock(mutex);
	if (st_unlikely(result != 0) || st_unlikely(st_hold_was_waited_for(kept, kept_waits)))
		return unlock_contended(self, kept, kept_place, result);
	st_leave(self);
	return 0;
}

static inline int unlock_wanted(pthread_mutex_t *mutex, const volatile uintptr_t *place)
{
	struct st_thread *self = st_self;

	return self->counts != NULL ? unlock_counted(mutex, place, self)
				    : unlock_recorded_at(mutex, place);
}

static __attribute__((noinline)) int unlock_unknown(pthread_mutex_t *mutex,
						    const volatile uintptr_t *place)
{
	return st_skips_object(ST_EVENT_mutex_unlock, mutex, st_caller(place))
		   ? st_real.pthread_mutex_unlock(mutex)
		   : unlock_wanted(mutex, place);
}

static __attribute__((noinline)) int unlock_picked(pthread_mutex_t *mutex,
						   const volatile uintptr_t *place)
{
	switch (st_wants(ST_EVENT_mutex_unlock, mutex)) {
	case ST_WANTED:
		return unlock_wanted(mutex, place);
	case ST_LEFT_OUT:
		return st_real.pthread_mutex_unlock(mutex);
	default:
		return unlock_unknown(mutex, place);
	}
}

static inline int unlock_traced(pthread_mutex_t *mutex, const volatile uintptr_t *place)
{
	struct st_thread *self = st_self;

	if (st_likely(!self->selective))
		return unlock_recorded_at(mutex, place);
	return self->sure_counts != NULL ? unlock_counted(mutex, place, self)
					 : unlock_picked(mutex, place);
}

/* It was taken, and the open run of failed tries is another one. As in lock_waits(). */
static ST_COLD int trylock_failed(struct st_thread *self, pthread_mutex_t *mutex, uintptr_t site)
{
	uint64_t now_ns = st_stamp(self);

	if (mutex_is_plain(mutex) && st_try.mutex(mutex) == 0)
		return 0;
	st_tries_begin(self, ST_EVENT_mutex_trylock, EBUSY, site, mutex, mutex_owner(mutex),
		       now_ns);
	return EBUSY;
}

static __attribute__((noinline)) int trylock_picked(pthread_mutex_t *mutex, uintptr_t site)
{
	struct st_thread *self;
	int result;

	if (st_skips_any(ST_EVENT_mutex_trylock, mutex, site))
		return st_real.pthread_mutex_trylock(mutex);
	if (st_self->counts == NULL)
		return trylock_recorded(mutex, site);
	self = st_enter();
	result = st_real.pthread_mutex_trylock(mutex);
	if (self == NULL)
		return result;
	if (result == EBUSY) {
		st_tries_mark(mutex);
		if (!st_tries_continue(self, ST_EVENT_mutex_trylock, site, mutex))
			result = trylock_failed(self, mutex, site);
	}
	if (result == 0)
		st_hold_begin(self, ST_EVENT_mutex_trylock, ST_COUNTED_mutex_trylock, site, mutex);
	else if (result != EBUSY)
		st_hold_refused(self, ST_EVENT_mutex_trylock, result, site, mutex);
	st_leave(self);
	return result;
}

static inline int trylock_traced(pthread_mutex_t *mutex, uintptr_t site)
{
	return st_likely(!st_self->selective) ? trylock_recorded(mutex, site)
					      : trylock_picked(mutex, site);
}

/*
 * --- the fastest paths: everything is recorded, and the mutex is free --------------------------
 */

/*
 * The mutex is kept on the stack for the slow paths, so that the compiler saves no register for it;
 * it is not kept in the writer, which is zeroed after a fork in mid-event.
 */
static inline __attribute__((always_inline)) int lock_fully(pthread_mutex_t *mutex,
							    struct st_thread *self)
{
	pthread_mutex_t *volatile kept;
	uint64_t number, now_ns;
	int tried;

	if (st_unlikely(st_gate_shut(&self->gate)))
		return lock_recorded_at(mutex, ST_SITE_PLACE());
	kept = mutex;
	if (st_unlikely(mutex->__data.__kind & KINDS_SPECIAL))
		return lock_slowly_at(self, mutex, ST_SITE_PLACE(), mutex_owner(mutex) != 0);
	tried = st_try.mutex(mutex);
	if (st_unlikely(tried != 0))
		return lock_slowly_at(self, kept, ST_SITE_PLACE(), tried == EBUSY);
	if (st_sample_is_due(self) ||
	    st_unlikely(!st_event_may(self, ST_SITE_PLACE(), &number, &now_ns)))
		return lock_noted(self, kept, ST_SITE_PLACE());
	self->stream.last_ns = now_ns;
	if (st_likely(self->last_object == kept)) {
		st_event_put_head(self, ST_SAME_mutex_lock, number, now_ns);
		st_event_commit(self, self->stream.packet, ST_SAME_BYTES);
	} else {
		st_event_put(self, ST_EVENT_mutex_lock, number, kept, now_ns);
		self->last_object = st_is_waited_for(kept) ? NULL : kept; /* see unlock_other() */
		st_event_commit(self, self->stream.packet, ST_OP_BYTES);
	}
	st_leave(self);
	return 0;
}

/*
 * The last event has another object, or may not be referred to; the gate is closed. The caller has
 * checked for sleepers. There are others if this thread has locked the mutex again before the
 * thread that it woke could run: glibc's word is TAKEN then, but that thread still waits, for this
 * hold, too, whose release needs a call path. So unlock_slowly() leaves no last object, and
 * lock_fully() none while somebody waits.
 */
static __attribute__((noinline)) int
unlock_other(pthread_mutex_t *mutex, const volatile uintptr_t *place, struct st_thread *self)
{
	struct gm_packet *packet;
	int result;

	if (st_unlikely(st_is_waited_for(mutex)) ||
	    st_unlikely(!st_event_prepare(self, ST_EVENT_mutex_unlock, place, mutex)))
		return unlock_slowly_at(self, mutex, place);
	result = st_real.pthread_mutex_unlock(mutex);
	packet = self->stream.packet;
	if (st_unlikely(result != 0) || st_unlikely(packet == NULL))
		return unlock_refused(self, mutex, place, result);
	self->last_object = mutex;
	st_event_commit(self, packet, ST_OP_BYTES);
	st_leave(self);
	return 0;
}

static inline __attribute__((always_inline)) int unlock_fully(pthread_mutex_t *mutex,
							      struct st_thread *self)
{
	pthread_mutex_t *volatile kept;
	struct gm_packet *packet;
	uint64_t number, now_ns;
	int result;

	if (st_unlikely(st_gate_shut(&self->gate)))
		return unlock_recorded_at(mutex, ST_SITE_PLACE());
	kept = mutex;
	/* Other threads sleep on it, or its kind uses other bits of the futex word. */
	if (st_unlikely((unsigned)mutex->__data.__lock > TAKEN))
		return unlock_slowly_at(self, mutex, ST_SITE_PLACE());
	if (st_unlikely(self->last_object != mutex))
		return unlock_other(mutex, ST_SITE_PLACE(), self);
	if (st_unlikely(!st_event_may(self, ST_SITE_PLACE(), &number, &now_ns)))
		return unlock_slowly_at(self, mutex, ST_SITE_PLACE());
	self->stream.last_ns = now_ns;
	st_event_put_head(self, ST_SAME_mutex_unlock, number, now_ns);
	result = st_real.pthread_mutex_unlock(mutex);
	if (st_unlikely(result != 0))
		return unlock_refused(self, kept, ST_SITE_PLACE(), result);
	packet = self->stream.packet;
	if (st_unlikely(packet == NULL))
		return unlock_refused(self, kept, ST_SITE_PLACE(), 0);
	st_event_commit(self, packet, ST_SAME_BYTES);
	st_leave(self);
	return 0;
}

/* Reached by a jump, before any register is saved. */
static __attribute__((noinline)) int
lock_special(pthread_mutex_t *mutex, const volatile uintptr_t *place, struct st_thread *self)
{
	if (st_likely(self->sure_counts != NULL)) /* as in lock_traced(), for most threads */
		return lock_counted(mutex, place, self);
	return lock_traced(mutex, place);
}

static __attribute__((noinline)) int
unlock_special(pthread_mutex_t *mutex, const volatile uintptr_t *place, struct st_thread *self)
{
	if (st_likely(self->sure_counts != NULL))
		return unlock_counted(mutex, place, self);
	return unlock_traced(mutex, place);
}

ST_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	struct st_thread *self = st_self;

	st_claim(mutex);
	if (st_unlikely(st_is_special(self)))
		return lock_special(mutex, ST_SITE_PLACE(), self);
	return lock_fully(mutex, self);
}

ST_EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	struct st_thread *self = st_self;

	if (st_unlikely(st_is_special(self)))
		return unlock_special(mutex, ST_SITE_PLACE(), self);
	return unlock_fully(mutex, self);
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
	if (!mutex_is_plain(mutex) || !is_known_clock(call->clock))
		return lock_slowly(self, mutex, site, mutex_owner(mutex) != 0, call);
	tried = st_try.mutex(mutex);
	if (tried != 0)
		return lock_slowly(self, mutex, site, tried == EBUSY, call);
	st_sample_is_due(self);
	return lock_got(self, mutex, site, call->done);
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

ST_ALIAS(__pthread_mutex_lock, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
ST_ALIAS(__pthread_mutex_unlock, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))
ST_ALIAS(__pthread_mutex_trylock, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
ST_ALIAS(__pthread_mutex_destroy, pthread_mutex_destroy, (pthread_mutex_t * mutex), (mutex))
ST_ALIAS(__pthread_mutex_init, pthread_mutex_init,
	 (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes), (mutex, attributes))

/* --- C11's functions, which are the same in glibc (see c11.h) ------------------------------ */

ST_EXPORT int mtx_lock(mtx_t *mutex)
{
	return st_c11_known()
		   ? st_c11_result(lock_traced((pthread_mutex_t *)mutex, ST_SITE_PLACE()))
		   : st_real.mtx_lock(mutex);
}

ST_EXPORT int mtx_unlock(mtx_t *mutex)
{
	return st_c11_known()
		   ? st_c11_result(unlock_traced((pthread_mutex_t *)mutex, ST_SITE_PLACE()))
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
