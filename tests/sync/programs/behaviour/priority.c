/* SPDX-License-Identifier: MIT */
/*
 * Priorities: inherited from waiters, limited by a ceiling. If real-time threads are not permitted,
 * the results show it.
 */
#define _GNU_SOURCE
#include "../wait_blocked.h"
#include "behaviour.h"

#include <sched.h>
#include <stdatomic.h>

static pthread_mutex_t mutex;
static atomic_int waiter;
static int permitted;

/* The kernel's scheduling priority of this thread: below -1 for a real-time thread. */
static long priority_now(void)
{
	char line[512];
	long priority = 0;
	FILE *file = fopen("/proc/thread-self/stat", "r");

	assert(file != NULL && fgets(line, sizeof(line), file) != NULL);
	fclose(file);
	assert(sscanf(strrchr(line, ')'),
		      ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u "
		      "%*d %*d %ld",
		      &priority) == 1);
	return priority;
}

static int become(int policy, int priority)
{
	struct sched_param parameter = {.sched_priority = priority};

	return pthread_setschedparam(pthread_self(), policy, &parameter);
}

static struct answer waited;

static void *wait_urgently(void *arg)
{
	permitted = become(SCHED_FIFO, 5);
	atomic_store(&waiter, gettid());
	ASK(&waited, pthread_mutex_lock(&mutex));
	pthread_mutex_unlock(&mutex);
	return arg;
}

/* The owner runs with the priority of the waiter until it unlocks. */
static void inherits(int type, int robust)
{
	pthread_t thread;
	long before = priority_now();

	make_mutex(&mutex, type, robust, PTHREAD_PRIO_INHERIT, 0);
	CALL(pthread_mutex_lock(&mutex));
	atomic_store(&waiter, 0);
	thread = start(wait_urgently, NULL);
	while (atomic_load(&waiter) == 0)
		usleep(100);
	until_asleep(atomic_load(&waiter));
	if (permitted == 0)
		SAY("boosted to %ld", priority_now());
	else
		SAY("boost not seen: threads may not be of real time here");
	CALL(pthread_mutex_unlock(&mutex));
	SAY("back %d", priority_now() == before);
	join(thread);
	tell(&waited);
}

static void *has_ceiling(void *arg)
{
	int old;

	make_mutex(&mutex, PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_PROTECT, 0);
	CALL(pthread_mutex_setprioceiling(&mutex, 7, &old));
	SAY("ceiling before %d", old);
	CALL(pthread_mutex_setprioceiling(&mutex, 7, NULL));
	CALL(pthread_mutex_setprioceiling(&mutex, 1000, &old));
	if (become(SCHED_FIFO, 5) != 0) {
		SAY("ceiling not seen: threads may not be of real time here");
		return arg;
	}
	CALL(pthread_mutex_lock(&mutex));
	SAY("priority %ld", priority_now());
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_setprioceiling(&mutex, 6, &old));
	CALL(pthread_mutex_unlock(&mutex));
	SAY("priority %ld", priority_now());
	CALL(pthread_mutex_trylock(&mutex));
	SAY("priority %ld", priority_now());
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &past));
	SAY("priority %ld", priority_now());
	CALL(pthread_mutex_unlock(&mutex));
	SAY("priority %ld", priority_now());
	become(SCHED_FIFO, 8); /* above */
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &past));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past));
	return arg;
}

void priorities(void)
{
	inherits(PTHREAD_MUTEX_NORMAL, 0);
	inherits(PTHREAD_MUTEX_RECURSIVE, 0);
	inherits(PTHREAD_MUTEX_ERRORCHECK, 1);
	inherits(PTHREAD_MUTEX_NORMAL, 1);
	join(start(has_ceiling, NULL));
}
