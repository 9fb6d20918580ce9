/* SPDX-License-Identifier: MIT */
/* Spin locks, once, barriers. */
#define _GNU_SOURCE
#include "behaviour.h"

#include <limits.h>

static void spins(int shared)
{
	pthread_spinlock_t spin;

	SAY("-- spin lock, shared %d", shared);
	CALL(pthread_spin_init(&spin, shared));
	CALL(pthread_spin_trylock(&spin));
	CALL(pthread_spin_trylock(&spin));
	CALL(pthread_spin_unlock(&spin));
	CALL(pthread_spin_lock(&spin));
	CALL(pthread_spin_trylock(&spin));
	CALL(pthread_spin_unlock(&spin));
	CALL(pthread_spin_destroy(&spin));
}

static pthread_once_t once = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static int runs;

static void once_routine(void)
{
	runs++;
}

static void once_exits(void)
{
	if (runs++ == 1)
		pthread_exit((void *)8);
}

static void once_is_cancelled(void)
{
	if (runs++ == 3) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
}

static void once_in_once(void)
{
	CALL(pthread_once(&inner, once_routine));
}

static void *once_thread(void *routine)
{
	CALL(pthread_once(&once, routine));
	return (void *)9;
}

static void onces(void)
{
	SAY("-- once");
	CALL(pthread_once(&once, once_routine));
	CALL(pthread_once(&once, once_routine));
	once = (pthread_once_t)PTHREAD_ONCE_INIT;
	SAY("value %ld", (long)join(start(once_thread, once_exits))); /* leaves it undone */
	SAY("value %ld", (long)join(start(once_thread, once_exits)));
	once = (pthread_once_t)PTHREAD_ONCE_INIT;
	SAY("value %ld", (long)join(start(once_thread, once_is_cancelled)));
	SAY("value %ld", (long)join(start(once_thread, once_is_cancelled)));
	once = (pthread_once_t)PTHREAD_ONCE_INIT;
	CALL(pthread_once(&once, once_in_once));
	CALL(pthread_once(&inner, once_routine));
	SAY("runs %d", runs);
}

static pthread_barrier_t barrier;

static void *at_barrier(void *arg)
{
	ASK(arg, pthread_barrier_wait(&barrier));
	return arg;
}

/* Exactly one of the two threads is the serial one, but not always the same. */
static void meet(void)
{
	struct answer answers[2];
	pthread_t one = start(at_barrier, &answers[0]), another = start(at_barrier, &answers[1]);
	int serial;

	join(one);
	join(another);
	serial = answers[1].value == PTHREAD_BARRIER_SERIAL_THREAD;
	tell(&answers[serial]);
	tell(&answers[!serial]);
}

static void barriers(int shared)
{
	pthread_barrierattr_t attributes;

	SAY("-- barrier, shared %d", shared);
	pthread_barrierattr_init(&attributes);
	pthread_barrierattr_setpshared(&attributes, shared);
	CALL(pthread_barrier_init(&barrier, &attributes, 0));
	CALL(pthread_barrier_init(&barrier, &attributes, (unsigned)INT_MAX + 1));
	CALL(pthread_barrier_init(&barrier, &attributes, 1));
	CALL(pthread_barrier_wait(&barrier));
	CALL(pthread_barrier_wait(&barrier));
	CALL(pthread_barrier_destroy(&barrier));
	CALL(pthread_barrier_init(&barrier, &attributes, 2));
	for (int i = 0; i < 3; i++)
		meet();
	CALL(pthread_barrier_destroy(&barrier));
	pthread_barrierattr_destroy(&attributes);
}

void other_locks(void)
{
	spins(PTHREAD_PROCESS_PRIVATE);
	spins(PTHREAD_PROCESS_SHARED);
	onces();
	barriers(PTHREAD_PROCESS_PRIVATE);
	barriers(PTHREAD_PROCESS_SHARED);
}
