/* SPDX-License-Identifier: MIT */
/*
 * holders CENTISECONDS: threads contend for a mutex that they lock on its own, while they hold
 * another mutex, and by trylock; for a read-write lock; and for a spin lock.  Each thread also
 * locks a mutex of its own, without waiting.  Prints the process id and the addresses of the locks.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static atomic_bool over;
static volatile long work;

static void some_work(int n)
{
	for (int i = 0; i < n; i++)
		work += i;
}

static void take_nested(void)
{
	pthread_mutex_lock(&outer);
	pthread_mutex_lock(&inner);
	some_work(200);
	pthread_mutex_unlock(&inner);
	pthread_mutex_unlock(&outer);
}

/* Released in the order in which they were acquired. */
static void take_crossed(void)
{
	pthread_mutex_lock(&outer);
	pthread_mutex_lock(&inner);
	some_work(100);
	pthread_mutex_unlock(&outer);
	some_work(100);
	pthread_mutex_unlock(&inner);
}

static void take_try(void)
{
	if (pthread_mutex_trylock(&inner) != 0)
		return;
	some_work(300);
	pthread_mutex_unlock(&inner);
}

static void take_others(int i)
{
	if (i % 4 != 0)
		pthread_rwlock_rdlock(&rwlock);
	else
		pthread_rwlock_wrlock(&rwlock);
	some_work(100);
	pthread_rwlock_unlock(&rwlock);
	pthread_spin_lock(&spin);
	some_work(20);
	pthread_spin_unlock(&spin);
}

static void *runs(void *arg)
{
	pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

	for (int i = 0; !over; i++) {
		take_nested();
		take_crossed();
		take_try();
		take_others(i);
		for (int k = 0; k < 100; k++) {
			pthread_mutex_lock(&alone);
			pthread_mutex_unlock(&alone);
		}
	}
	return arg;
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) * 10 : 100;
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};
	pthread_t threads[THREADS];

	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	printf("%d %p %p %p %p\n", getpid(), (void *)&outer, (void *)&inner, (void *)&rwlock,
	       (void *)&spin);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, runs, NULL);
	nanosleep(&time, NULL);
	over = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
