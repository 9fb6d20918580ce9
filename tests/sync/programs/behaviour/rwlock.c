/* SPDX-License-Identifier: MIT */
/* Read-write locks. */
#define _GNU_SOURCE
#include "behaviour.h"

static pthread_rwlock_t rwlock;

static void *other_reads_and_writes(void *arg)
{
	CALL(pthread_rwlock_tryrdlock(&rwlock));
	CALL(pthread_rwlock_trywrlock(&rwlock));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &past));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &crooked));
	CALL(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past));
	CALL(pthread_rwlock_clockwrlock(&rwlock, CLOCK_REALTIME, &minus));
	CALL(pthread_rwlock_clockwrlock(&rwlock, 4711, &past));
	return arg;
}

static void *other_cannot(void *arg)
{
	CALL(pthread_rwlock_tryrdlock(&rwlock));
	CALL(pthread_rwlock_trywrlock(&rwlock));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &past));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &minus));
	CALL(pthread_rwlock_clockrdlock(&rwlock, CLOCK_REALTIME, &past));
	CALL(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &crooked));
	CALL(pthread_rwlock_clockrdlock(&rwlock, 4711, &past));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &past));
	CALL(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past));
	return arg;
}

static void its_writer(void)
{
	CALL(pthread_rwlock_wrlock(&rwlock));
	CALL(pthread_rwlock_rdlock(&rwlock)); /* EDEADLK, also for the next */
	CALL(pthread_rwlock_wrlock(&rwlock));
	CALL(pthread_rwlock_tryrdlock(&rwlock));
	CALL(pthread_rwlock_trywrlock(&rwlock));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &past));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &past));
	CALL(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &past));
	CALL(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past));
	join(start(other_cannot, NULL));
	CALL(pthread_rwlock_unlock(&rwlock));
}

static void free_one(void)
{
	CALL(pthread_rwlock_timedwrlock(&rwlock, &past));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &crooked));
	CALL(pthread_rwlock_clockwrlock(&rwlock, CLOCK_REALTIME, &past));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_clockwrlock(&rwlock, 4711, &past));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &minus));
	CALL(pthread_rwlock_clockrdlock(&rwlock, 4711, &past));
	CALL(pthread_rwlock_trywrlock(&rwlock));
	CALL(pthread_rwlock_unlock(&rwlock));
}

/* Sets glibc's count of readers to its maximum. */
static void too_many_readers(void)
{
	CALL(pthread_rwlock_rdlock(&rwlock));
	rwlock.__data.__readers |= (1u << 31) - 8;
	CALL(pthread_rwlock_rdlock(&rwlock));
	CALL(pthread_rwlock_tryrdlock(&rwlock));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &past));
	CALL(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &past));
}

static void each_rwlock(int kind, int shared)
{
	pthread_rwlockattr_t attributes;

	SAY("-- read-write lock of kind %d, shared %d", kind, shared);
	pthread_rwlockattr_init(&attributes);
	pthread_rwlockattr_setpshared(&attributes, shared);
	CALL(pthread_rwlockattr_setkind_np(&attributes, kind));
	CALL(pthread_rwlock_init(&rwlock, &attributes));
	pthread_rwlockattr_destroy(&attributes);
	CALL(pthread_rwlock_rdlock(&rwlock));
	CALL(pthread_rwlock_rdlock(&rwlock));
	CALL(pthread_rwlock_trywrlock(&rwlock));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &past));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &crooked));
	CALL(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &past));
	CALL(pthread_rwlock_clockrdlock(&rwlock, 4711, &past));
	CALL(pthread_rwlock_unlock(&rwlock));
	join(start(other_reads_and_writes, NULL));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_unlock(&rwlock)); /* read-locked by the other thread */
	its_writer();
	free_one();
	CALL(pthread_rwlock_destroy(&rwlock));
	CALL(pthread_rwlock_init(&rwlock, NULL));
	too_many_readers();
}

void rwlocks(void)
{
	static const int kinds[] = {PTHREAD_RWLOCK_PREFER_READER_NP,
				    PTHREAD_RWLOCK_PREFER_WRITER_NP,
				    PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP};

	for (int kind = 0; kind < 3; kind++)
		for (int shared = 0; shared < 2; shared++)
			each_rwlock(kinds[kind], shared);
}
