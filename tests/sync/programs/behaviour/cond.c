/* SPDX-License-Identifier: MIT */
/* Results of condition variables without a wait. Waits are in blocked.c. */
#define _GNU_SOURCE
#include "behaviour.h"

static pthread_cond_t cond;
static pthread_mutex_t mutex;

static void each_condition(clockid_t clock, int shared, int type, int protocol)
{
	pthread_condattr_t attributes;

	SAY("-- condition of clock %d", clock);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, clock);
	pthread_condattr_setpshared(&attributes, shared);
	CALL(pthread_cond_init(&cond, &attributes));
	make_mutex(&mutex, type, 0, protocol, shared);
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_cond_timedwait(&cond, &mutex, &past));
	CALL(pthread_cond_timedwait(&cond, &mutex, &crooked));
	CALL(pthread_cond_timedwait(&cond, &mutex, &minus));
	CALL(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &past));
	CALL(pthread_cond_clockwait(&cond, &mutex, CLOCK_REALTIME, &past));
	CALL(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &crooked));
	CALL(pthread_cond_clockwait(&cond, &mutex, 4711, &past));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_cond_signal(&cond));
	CALL(pthread_cond_broadcast(&cond));
	CALL(pthread_cond_destroy(&cond));
	CALL(pthread_mutex_destroy(&mutex));
	pthread_condattr_destroy(&attributes);
}

/* A thread that may not unlock the mutex may not wait with it. */
static void not_the_owner(int type)
{
	CALL(pthread_cond_init(&cond, NULL));
	make_mutex(&mutex, type, 0, 0, 0);
	CALL(pthread_cond_wait(&cond, &mutex));
	CALL(pthread_cond_timedwait(&cond, &mutex, &past));
	CALL(pthread_cond_clockwait(&cond, &mutex, CLOCK_REALTIME, &past));
	CALL(pthread_cond_destroy(&cond));
}

/*
 * The mutex is acquired by a thread that dies while this one waits: the wait ends with EOWNERDEAD.
 */
static void *takes_and_dies(void *arg)
{
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_cond_signal(&cond));
	return arg;
}

static void owner_dies(int which)
{
	const struct timespec real = far_from_now(CLOCK_REALTIME);
	pthread_t thread;

	make_mutex(&mutex, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ROBUST, 0, 0);
	CALL(pthread_mutex_lock(&mutex));
	thread = start(takes_and_dies, NULL); /* acquires it once this thread waits */
	if (which == 0)
		CALL(pthread_cond_wait(&cond, &mutex));
	else if (which == 1)
		CALL(pthread_cond_timedwait(&cond, &mutex, &real));
	else
		CALL(pthread_cond_clockwait(&cond, &mutex, CLOCK_REALTIME, &real));
	join(thread);
	/*
	 * The mutex was not made consistent, so it can never be acquired again, not even by a
	 * wait.
	 */
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_cond_wait(&cond, &mutex));
	CALL(pthread_mutex_lock(&mutex));
}

/* The mutex becomes unrecoverable during the wait. */
static void *takes_and_loses(void *answer)
{
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_unlock(&mutex));	 /* of a dead owner, not made consistent */
	ASK(answer, pthread_cond_signal(&cond)); /* the woken thread prints */
	return answer;
}

static void owner_loses(int which)
{
	const struct timespec real = far_from_now(CLOCK_REALTIME);
	struct answer answer;
	pthread_t thread;

	SAY("-- lost while waited for");
	CALL(pthread_cond_init(&cond, NULL));
	make_mutex(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, 0, 0);
	join(start(takes_and_dies, NULL));
	CALL(pthread_mutex_lock(&mutex));
	thread = start(takes_and_loses, &answer);
	if (which == 0)
		CALL(pthread_cond_wait(&cond, &mutex));
	else if (which == 1)
		CALL(pthread_cond_timedwait(&cond, &mutex, &real));
	else
		CALL(pthread_cond_clockwait(&cond, &mutex, CLOCK_REALTIME, &real));
	join(thread);
	tell(&answer);
}

void conditions(void)
{
	static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				    PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};

	for (int type = 0; type < 4; type++)
		for (int protocol = 0; protocol < 2; protocol++)
			each_condition(type < 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC, type & 1,
				       types[type], protocol);
	not_the_owner(PTHREAD_MUTEX_ERRORCHECK);
	not_the_owner(PTHREAD_MUTEX_RECURSIVE);
	CALL(pthread_cond_init(&cond, NULL));
	for (int which = 0; which < 3; which++)
		owner_dies(which);
	for (int which = 0; which < 3; which++)
		owner_loses(which);
}
