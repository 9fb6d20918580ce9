/* SPDX-License-Identifier: MIT */
/*
 * The functions for mutexes with a ceiling of the owner's priority, and for robust ones, whose
 * owner has died.
 */
#include "wrap/mutex_state.h"
#include "record/tries.h"
#include "libc/real.h"

/*
 * pthread_mutex_setprioceiling() acquires the mutex, changes its ceiling and releases it: an event
 * of each. The release is stamped before the call, as any, and with it an acquisition that did not
 * wait.
 */
static void ceiling_set(pthread_mutex_t *mutex, uintptr_t site, uint64_t since_ns, bool waited)
{
	struct st_thread *self = st_enter();
	bool contended = st_is_waited_for(mutex);

	if (self == NULL)
		return;
	if (waited)
		since_ns = st_stamp_ordered(self);
	if (self->counts != NULL && !waited && !contended) {
		st_count_event(self->counts, ST_EVENT_mutex_lock);
		st_count_event(self->counts, ST_EVENT_mutex_unlock);
	} else {
		st_tries_unmark(self, mutex);
		if (!waited)
			st_emit_parts(self, ST_EVENT_mutex_lock, 0, site, mutex, 0, since_ns);
		if (contended)
			st_path_note(self, site, mutex, ST_RELEASES, since_ns);
		st_emit_parts(self, ST_EVENT_mutex_unlock, 0, site, mutex, 0, since_ns);
	}
	st_leave(self);
}

static int set_ceiling_after_wait(struct st_thread *self, pthread_mutex_t *mutex, uintptr_t site,
				  uint32_t owner, int ceiling, int *old)
{
	uint32_t generation = st_waits_begin(mutex);
	uint64_t begin_ns = st_note_begin(self, ST_EVENT_mutex_lock_begin, site, mutex, owner);
	int result = st_real.pthread_mutex_setprioceiling(mutex, ceiling, old);

	st_note_end(begin_ns, ST_EVENT_mutex_lock, result, site, mutex, 0);
	st_waits_end(mutex, generation);
	if (result == 0)
		ceiling_set(mutex, site, 0, true);
	return result;
}

/* If the mutex has another protocol, or its caller owns it, it is not acquired. */
ST_EXPORT int pthread_mutex_setprioceiling(pthread_mutex_t *restrict mutex, int ceiling,
					   int *restrict old)
{
	struct st_thread *self;
	uint64_t since_ns;
	uint32_t owner;
	int result;

	st_ready();
	self = (mutex_kind(mutex) & KIND_PROTECT) == 0 ||
		       st_skips(ST_EVENT_mutex_lock, mutex, ST_SITE())
		   ? NULL
		   : st_enter();
	if (self == NULL)
		return st_real.pthread_mutex_setprioceiling(mutex, ceiling, old);
	owner = mutex_owner(mutex);
	if (owner != 0 && !mutex_is_relock(self, mutex, owner))
		return set_ceiling_after_wait(self, mutex, ST_SITE(), owner, ceiling, old);
	since_ns = st_stamp(self);
	st_leave(self);
	result = st_real.pthread_mutex_setprioceiling(mutex, ceiling, old);
	if (result == 0 && owner == 0)
		ceiling_set(mutex, ST_SITE(), since_ns, false);
	return result;
}

ST_EXPORT int pthread_mutex_consistent(pthread_mutex_t *mutex)
{
	int result;

	st_ready();
	result = st_real.pthread_mutex_consistent(mutex);
	st_note(ST_EVENT_mutex_consistent, result, ST_SITE(), mutex, 0);
	return result;
}
