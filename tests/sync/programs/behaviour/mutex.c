/* SPDX-License-Identifier: MIT */
/* Mutexes: each type, robust or not, each protocol, private and shared. */
#define _GNU_SOURCE
#include "behaviour.h"

#include <limits.h>

static pthread_mutex_t mutex;

void make_mutex(pthread_mutex_t *made, int type, int robust, int protocol, int shared)
{
	pthread_mutexattr_t attributes;

	SAY("-- type %d robust %d protocol %d shared %d", type, robust, protocol, shared);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutexattr_setrobust(&attributes, robust);
	pthread_mutexattr_setprotocol(&attributes, protocol);
	pthread_mutexattr_setpshared(&attributes, shared);
	CALL(pthread_mutex_init(made, &attributes));
	pthread_mutexattr_destroy(&attributes);
}

static void *other_tries(void *arg)
{
	CALL(pthread_mutex_trylock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &past));
	CALL(pthread_mutex_timedlock(&mutex, &crooked));
	CALL(pthread_mutex_timedlock(&mutex, &minus));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_REALTIME, &crooked));
	CALL(pthread_mutex_clocklock(&mutex, 4711, &past));
	if (arg != NULL)
		CALL(pthread_mutex_unlock(&mutex));
	return arg;
}

static void *other_dies_owning(void *arg)
{
	CALL(pthread_mutex_lock(&mutex));
	return arg;
}

static void owner_died(int type, int protocol, int shared)
{
	make_mutex(&mutex, type, PTHREAD_MUTEX_ROBUST, protocol, shared);
	join(start(other_dies_owning, NULL));
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_consistent(&mutex));
	CALL(pthread_mutex_unlock(&mutex));
	join(start(other_dies_owning, NULL));
	CALL(pthread_mutex_timedlock(&mutex, &past));
	CALL(pthread_mutex_consistent(&mutex));
	CALL(pthread_mutex_unlock(&mutex));
	join(start(other_dies_owning, NULL));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past));
	CALL(pthread_mutex_consistent(&mutex));
	CALL(pthread_mutex_unlock(&mutex));
	join(start(other_dies_owning, NULL));
	CALL(pthread_mutex_trylock(&mutex));
	CALL(pthread_mutex_unlock(&mutex)); /* not made consistent: unrecoverable */
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &past));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past));
	CALL(pthread_mutex_trylock(&mutex)); /* last, since glibc leaves it locked */
}

static void each_mutex(int type, int robust, int protocol, int shared)
{
	bool relocks = type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK;
	int unlocks;

	make_mutex(&mutex, type, robust, protocol, shared);
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_trylock(&mutex));
	if (relocks) {
		CALL(pthread_mutex_lock(&mutex));
		CALL(pthread_mutex_timedlock(&mutex, &past));
		CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past));
	} else {
		CALL(pthread_mutex_timedlock(&mutex, &past));
	}
	CALL(pthread_mutex_destroy(&mutex));
	/* An unlock by another thread is undefined if it is not refused. */
	join(start(other_tries, relocks ? &mutex : NULL));
	for (unlocks = 0; pthread_mutex_unlock(&mutex) == 0 && relocks; unlocks++)
		;
	SAY("unlocks %d", unlocks);
	CALL(pthread_mutex_timedlock(&mutex, &past));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &crooked));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past));
	if (relocks)
		CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_clocklock(&mutex, 4711, &past));
	if (robust == PTHREAD_MUTEX_ROBUST)
		owner_died(type, protocol, shared);
}

/* Sets glibc's internal fields, since no call can produce this state. */
static void by_hand(void)
{
	pthread_mutexattr_t attributes;

	make_mutex(&mutex, PTHREAD_MUTEX_RECURSIVE, 0, 0, 0);
	CALL(pthread_mutex_consistent(&mutex));
	CALL(pthread_mutex_setprioceiling(&mutex, 1, NULL));
	CALL(pthread_mutex_lock(&mutex));
	mutex.__data.__count = UINT_MAX;
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_trylock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &past));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past));
	memset(&mutex, 0x7e, sizeof(mutex));
	mutex.__data.__kind = 0x7f;
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_trylock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &past));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_destroy(&mutex));
	/* An invalid ceiling. */
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT);
	memset(&attributes, 0xff, sizeof(attributes));
	CALL(pthread_mutex_init(&mutex, &attributes));
	CALL(pthread_mutex_init(&mutex, NULL));
	CALL(pthread_mutex_destroy(&mutex));
}

void mutexes(void)
{
	static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				    PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};

	for (int type = 0; type < 4; type++)
		for (int robust = 0; robust < 2; robust++)
			for (int protocol = 0; protocol < 3; protocol++)
				for (int shared = 0; shared < 2; shared++)
					each_mutex(types[type], robust, protocol, shared);
	by_hand();
}
