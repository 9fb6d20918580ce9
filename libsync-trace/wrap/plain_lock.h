/* SPDX-License-Identifier: MIT */
/*
 * The release of a lock whose sleepers cannot be seen in it: spin locks, and those of OpenMP. The
 * table of waiters (hold.h) shows them.
 */
#ifndef ST_PLAIN_LOCK_H
#define ST_PLAIN_LOCK_H

#include "record/tries.h"

struct st_plain_release {
	enum st_event id;
	enum st_counted counted;
	int (*real)(void *argument);
	void *argument;
};

/* Releases the thread's newest acquisition, for which no thread waits. */
static inline int st_plain_unlock_uncontended(struct st_thread *self,
					      const struct st_plain_release *release,
					      const void *object, uintptr_t site, uint32_t waits)
{
	int result;

	st_hold_take_back(self, release->counted);
	result = release->real(release->argument);
	/* seq_cst: the release may be a plain store, which the load of the waiters must not pass.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (st_unlikely(result != 0) || st_unlikely(st_hold_was_waited_for(object, waits)))
		st_hold_was_contended(self, release->id, result, site, object);
	st_leave(self);
	return result;
}

static inline int st_plain_unlock_recorded(struct st_thread *self,
					   const struct st_plain_release *release,
					   const void *object, uintptr_t site)
{
	struct st_release event;
	int result;

	st_tries_unmark(self, object);
	event = st_release_begin(self, release->id, 0, site, object, false);
	event.sleepers = st_is_waited_for(object);
	result = release->real(release->argument);
	st_release_end(self, event, release->id, 0, result, site, object);
	st_leave(self);
	return result;
}

/* Only waits are recorded: hold.h. */
static inline int st_plain_unlock_counted(struct st_thread *self,
					  const struct st_plain_release *release,
					  const void *object, uintptr_t site)
{
	struct st_timing timing;
	uint32_t waits;
	int result;

	if (st_hold_is_uncontended(self, object, &waits))
		return st_plain_unlock_uncontended(self, release, object, site, waits);
	if (st_hold_is_older(self, object, &waits)) {
		result = release->real(release->argument);
		/* seq_cst: as in st_plain_unlock_uncontended() */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		st_hold_end_older(self, release->id, result, waits, site, object);
		st_leave(self);
		return result;
	}
	if (!st_is_timed(self) || !st_timed_begin(self, release->id, object, &timing))
		return st_plain_unlock_recorded(self, release, object, site);
	result = release->real(release->argument);
	/* seq_cst: as in st_plain_unlock_uncontended() */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	st_timed_end(self, &timing, release->id, result, site, object);
	st_leave(self);
	return result;
}

static inline __attribute__((always_inline)) int
st_plain_unlock(const struct st_plain_release *release, const void *object, uintptr_t site)
{
	struct st_thread *self = st_skips(release->id, object, site) ? NULL : st_enter();

	if (st_unlikely(self == NULL))
		return release->real(release->argument);
	return self->counts != NULL ? st_plain_unlock_counted(self, release, object, site)
				    : st_plain_unlock_recorded(self, release, object, site);
}

/* Acquired without a wait. The gate is closed, and opened here. */
static inline void st_plain_got(struct st_thread *self, enum st_event done, enum st_counted counted,
				const void *object, uintptr_t site)
{
	if (self->counts != NULL) {
		st_hold_begin(self, done, counted, site, object);
	} else {
		st_sample_is_due(self);
		st_emit_acquired(self, done, site, object);
	}
	st_leave(self);
}

#endif
