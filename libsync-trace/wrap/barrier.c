/* SPDX-License-Identifier: MIT */
/*
 * Barriers.
 *
 * The last thread to arrive does not wait but releases the others: it has no begin, and is stamped
 * before the call. glibc's counters show which thread is last, if a test with a barrier of our own
 * has confirmed that they are laid out as since glibc 2.25. If two threads arrive at the same time,
 * both may be recorded as waiting. With other layouts every arrival has a begin.
 */
#include "libc/real.h"
#include "record/writer.h"

/* The first members of glibc's struct pthread_barrier. */
struct counters {
	uint32_t in;
	uint32_t current_round;
	uint32_t count;
};

enum knowledge { NOT_LOOKED = 0, KNOWN, UNKNOWN };

static uint32_t load(const uint32_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static enum knowledge look(void)
{
	pthread_barrier_t probe;
	const struct counters *counters = (const struct counters *)&probe;
	bool as_known;

	if (st_real.pthread_barrier_init(&probe, NULL, 1) != 0)
		return UNKNOWN;
	as_known = load(&counters->in) == 0 && load(&counters->count) == 1;
	st_real.pthread_barrier_wait(&probe);
	as_known = as_known && load(&counters->in) == 1 && load(&counters->current_round) == 1;
	st_real.pthread_barrier_destroy(&probe);
	return as_known ? KNOWN : UNKNOWN;
}

static bool is_last(const pthread_barrier_t *barrier)
{
	static enum knowledge knowledge;
	const struct counters *counters = (const struct counters *)barrier;
	enum knowledge known = __atomic_load_n(&knowledge, __ATOMIC_RELAXED);
	uint32_t count;

	if (known == NOT_LOOKED) {
		known = look();
		__atomic_store_n(&knowledge, known, __ATOMIC_RELAXED);
	}
	count = load(&counters->count);
	return known == KNOWN && count > 0 && load(&counters->in) % count == count - 1;
}

static uint8_t result_byte(int result)
{
	return result == PTHREAD_BARRIER_SERIAL_THREAD ? ST_RESULT_SERIAL_THREAD : (uint8_t)result;
}

ST_EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct st_thread *self =
	    st_skips(ST_EVENT_barrier_wait, barrier, ST_SITE()) ? NULL : st_enter();
	struct st_release release = {0};
	uint64_t begin_ns = 0;
	int result;

	if (self == NULL)
		return st_real.pthread_barrier_wait(barrier);
	if (is_last(barrier)) {
		release = st_release_begin(self, ST_EVENT_barrier_wait, ST_RESULT_SERIAL_THREAD,
					   ST_SITE(), barrier, false);
		release.sleepers = load(&((const struct counters *)barrier)->count) > 1;
		st_leave(self);
	} else {
		begin_ns = st_note_begin(self, ST_EVENT_barrier_wait_begin, ST_SITE(), barrier, 0);
	}
	result = st_real.pthread_barrier_wait(barrier);
	if (begin_ns != 0) {
		st_note_end(begin_ns, ST_EVENT_barrier_wait, result_byte(result), ST_SITE(),
			    barrier, 0);
		return result;
	}
	self = st_enter();
	if (self == NULL)
		return result;
	st_release_end(self, release, ST_EVENT_barrier_wait, ST_RESULT_SERIAL_THREAD,
		       result_byte(result), ST_SITE(), barrier);
	st_leave(self);
	return result;
}

ST_EXPORT int pthread_barrier_init(pthread_barrier_t *restrict barrier,
				   const pthread_barrierattr_t *restrict attributes, unsigned count)
{
	int result;

	st_ready();
	result = st_real.pthread_barrier_init(barrier, attributes, count);
	st_note(ST_EVENT_barrier_init, result, ST_SITE(), barrier, count);
	return result;
}

ST_EXPORT int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	int result;

	st_ready();
	result = st_real.pthread_barrier_destroy(barrier);
	st_note(ST_EVENT_barrier_destroy, result, ST_SITE(), barrier, 0);
	return result;
}
