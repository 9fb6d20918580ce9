/* SPDX-License-Identifier: MIT */
/*
 * Fills streams of long-lived and short-lived threads, and of more and more that grow once or
 * twice, until it is killed. Prints "going" after a completed lock, of which an event must remain.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define GROWING_MAX 60

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool locked;

static void *long_one(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		locked = true;
	}
	return arg;
}

static void *short_one(void *arg)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&own);
	pthread_mutex_unlock(&own);
	return arg;
}

static void *growing_one(void *arg)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	for (int i = 0; i < 300; i++) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
	}
	for (;;)
		pause();
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, long_one, NULL);
	while (!locked)
		sched_yield();
	puts("going");
	fflush(stdout);
	for (int n_growing = 0;; n_growing++) {
		if (n_growing < GROWING_MAX)
			pthread_create(&thread, NULL, growing_one, NULL);
		pthread_create(&thread, NULL, short_one, NULL);
		pthread_join(thread, NULL);
	}
}
