/* SPDX-License-Identifier: MIT */
/*
 * One thread holds a mutex for most of the time, and another one for a fifth of that, while two
 * threads wait for them; meanwhile, threads that never wait lock and unlock N times each.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t often = PTHREAD_MUTEX_INITIALIZER, seldom = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static atomic_int stopped;
static long n_pairs;

static void hold(pthread_mutex_t *mutex, long us)
{
	const struct timespec time = {0, us * 1000};

	pthread_mutex_lock(mutex);
	nanosleep(&time, NULL);
	pthread_mutex_unlock(mutex);
}

static void *hold_both(void *arg)
{
	const struct timespec pause = {0, 2000000};

	while (!stopped) {
		hold(&often, 5000);
		hold(&seldom, 1000);
		nanosleep(&pause, NULL);
	}
	return arg;
}

static void *wait_for(void *mutex)
{
	const struct timespec pause = {0, 500000};

	while (!stopped) {
		pthread_mutex_lock(mutex);
		pthread_mutex_unlock(mutex);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void *fill(void *mutex)
{
	for (long i = 0; i < n_pairs; i++) {
		pthread_mutex_lock(mutex);
		pthread_mutex_unlock(mutex);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t holder, waiters[2], fillers[2];

	n_pairs = argc > 1 ? atol(argv[1]) : 1000;
	pthread_create(&holder, NULL, hold_both, NULL);
	pthread_create(&waiters[0], NULL, wait_for, &often);
	pthread_create(&waiters[1], NULL, wait_for, &seldom);
	for (int i = 0; i < 2; i++)
		pthread_create(&fillers[i], NULL, fill, &own[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(fillers[i], NULL);
	stopped = 1;
	pthread_join(holder, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(waiters[i], NULL);
	return 0;
}
