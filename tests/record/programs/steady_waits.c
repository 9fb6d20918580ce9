/* SPDX-License-Identifier: MIT */
/*
 * One thread holds a mutex for most of the time, and another one for a fifth of that, while two
 * threads wait for them; meanwhile, threads that never wait lock and unlock N times each. They
 * pause after each twentieth of that until both others have waited again, so that each part of the
 * capture has waits.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define N_PARTS 20

static pthread_mutex_t often = PTHREAD_MUTEX_INITIALIZER, seldom = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static atomic_int stopped, n_waits[2]; /* for `often`, and for `seldom` */
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

static long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void *wait_for(void *mutex)
{
	const struct timespec pause = {0, 500000};

	while (!stopped) {
		long begin_us = now_us();

		pthread_mutex_lock(mutex);
		pthread_mutex_unlock(mutex);
		if (now_us() - begin_us >= 100)
			n_waits[mutex == &seldom]++;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void await_waits(void)
{
	const struct timespec pause = {0, 500000};
	const int n_often = n_waits[0], n_seldom = n_waits[1];

	while (n_waits[0] == n_often || n_waits[1] == n_seldom)
		nanosleep(&pause, NULL);
}

static void *fill(void *mutex)
{
	for (long i = 0; i < n_pairs; i++) {
		if (i % (n_pairs / N_PARTS + 1) == 0)
			await_waits();
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
