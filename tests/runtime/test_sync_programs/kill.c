/* SPDX-License-Identifier: MIT */
/* Fills streams of long and short threads until it is killed.  Prints "going" when it does. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *long_one(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
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

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, long_one, NULL);
	puts("going");
	fflush(stdout);
	for (;;) {
		pthread_create(&thread, NULL, short_one, NULL);
		pthread_join(thread, NULL);
	}
}
