/* SPDX-License-Identifier: MIT */
/*
 * Signals that interrupt each waiting call, with handlers with and without SA_RESTART; and each
 * wait ended by its event or by its timeout.
 */
#define _GNU_SOURCE
#include "../wait_blocked.h"
#include "waits.h"

#include <signal.h>
#include <stdatomic.h>

static struct {
	unsigned which;
	atomic_int tid, handled, returned, left;
	sem_t leave;
	struct answer answer;
} work;

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&work.handled, 1);
}

static void *wait_in_thread(void *arg)
{
	const struct wait *wait = &waits[work.which];

	if (wait->object->enter != NULL)
		wait->object->enter();
	atomic_store(&work.tid, gettid());
	wait_call(work.which, &work.answer);
	if (wait->object->leave != NULL)
		work.left = wait->object->leave();
	atomic_store(&work.returned, 1);
	while (sem_wait(&work.leave) != 0)
		;
	return arg;
}

/* Sleeping in its wait, or after it. */
static void until_settled(void)
{
	while (atomic_load(&work.tid) == 0)
		usleep(50);
	until_asleep(atomic_load(&work.tid));
}

static void interrupt(pthread_t thread, int number)
{
	int before = atomic_load(&work.handled);

	CALL(pthread_kill(thread, number));
	while (atomic_load(&work.handled) == before)
		usleep(50);
	until_settled();
}

static void each_wait(unsigned which, int flags)
{
	const struct wait *wait = &waits[which];
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags}, old;
	pthread_t thread;

	SAY("-- %s, flags %x", wait->text, flags);
	sigaction(SIGUSR1, &action, &old);
	work.which = which;
	work.tid = work.returned = 0;
	work.left = -1;
	sem_init(&work.leave, 0, 0);
	wait->object->hold(wait->variant);
	thread = start(wait_in_thread, NULL);
	until_settled();
	interrupt(thread, SIGUSR1);
	SAY("%s", work.returned ? "returned" : "waits on");
	if (!work.returned)
		interrupt(thread, SIGUSR1);
	SAY("%s", work.returned ? "returned" : "waits on");
	wait->object->let_go();
	while (!atomic_load(&work.returned))
		usleep(50);
	sem_post(&work.leave);
	join(thread);
	tell(&work.answer);
	SAY("left %d", work.left);
	sigaction(SIGUSR1, &old, NULL);
}

/* --- spin locks: a wait that runs --------------------------------------------------------------
 */

static pthread_spinlock_t spin;
static atomic_int spinner;

static void *spin_in_thread(void *arg)
{
	atomic_store(&spinner, gettid());
	ASK(arg, pthread_spin_lock(&spin));
	pthread_spin_unlock(&spin);
	return arg;
}

static void spinning(void)
{
	struct sigaction action = {.sa_handler = on_signal}, old;
	struct answer answer;
	pthread_t thread;
	int before = work.handled;

	SAY("-- spinning");
	sigaction(SIGUSR1, &action, &old);
	CALL(pthread_spin_init(&spin, 0));
	CALL(pthread_spin_lock(&spin));
	thread = start(spin_in_thread, &answer);
	while (atomic_load(&spinner) == 0)
		usleep(50);
	CALL(pthread_kill(thread, SIGUSR1));
	while (atomic_load(&work.handled) == before)
		usleep(50);
	CALL(pthread_spin_unlock(&spin));
	join(thread);
	tell(&answer);
	sigaction(SIGUSR1, &old, NULL);
}

/* --- times that come ----------------------------------------------------------------------------
 */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem;

static struct timespec soon(clockid_t clock)
{
	struct timespec when;

	clock_gettime(clock, &when);
	when.tv_nsec += 2000000;
	when.tv_sec += when.tv_nsec / 1000000000;
	when.tv_nsec %= 1000000000;
	return when;
}

static void *in_time(void *arg)
{
	struct timespec real, monotonic;

#define SOON(what)                                                                                 \
	do {                                                                                       \
		real = soon(CLOCK_REALTIME);                                                       \
		monotonic = soon(CLOCK_MONOTONIC);                                                 \
		CALL(what);                                                                        \
	} while (0)
	SOON(pthread_mutex_timedlock(&mutex, &real));
	SOON(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &monotonic));
	SOON(mtx_timedlock((mtx_t *)&mutex, &real));
	SOON(pthread_rwlock_timedrdlock(&rwlock, &real));
	SOON(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &monotonic));
	SOON(pthread_rwlock_timedwrlock(&rwlock, &real));
	SOON(pthread_rwlock_clockwrlock(&rwlock, CLOCK_REALTIME, &real));
	SOON(sem_timedwait(&sem, &real));
	SOON(sem_clockwait(&sem, CLOCK_MONOTONIC, &monotonic));
	SOON(pthread_timedjoin_np(*(pthread_t *)arg, NULL, &real));
	SOON(pthread_clockjoin_np(*(pthread_t *)arg, NULL, CLOCK_MONOTONIC, &monotonic));
	return arg;
}

static void times(void)
{
	struct timespec real = soon(CLOCK_REALTIME), monotonic;
	pthread_t self = pthread_self();

	SAY("-- waits that their times end");
	sem_init(&sem, 0, 0);
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_rwlock_wrlock(&rwlock));
	join(start(in_time, &self));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_cond_timedwait(&cond, &mutex, &real));
	monotonic = soon(CLOCK_MONOTONIC);
	CALL(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &monotonic));
	real = soon(CLOCK_REALTIME);
	CALL(cnd_timedwait((cnd_t *)&cond, (mtx_t *)&mutex, &real));
	CALL(pthread_mutex_unlock(&mutex));
}

void blocked(void)
{
	for (unsigned which = 0; which < n_waits; which++) {
		each_wait(which, 0);
		each_wait(which, SA_RESTART);
	}
	spinning();
	times();
}
