/* SPDX-License-Identifier: MIT */
/*
 * Four threads lock a mutex that they share, argv[1] times each, and then wait for the end of
 * input. Prints "begun" when each has done that once, and at the end how often they locked it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4 };

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t end_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t end = PTHREAD_COND_INITIALIZER;
static int is_over;
static long rounds, sum;
static pthread_barrier_t begun;

static void *work(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&shared);
		sum++;
		pthread_mutex_unlock(&shared);
		if (i == 0)
			pthread_barrier_wait(&begun);
	}
	pthread_mutex_lock(&end_lock);
	while (!is_over)
		pthread_cond_wait(&end, &end_lock);
	pthread_mutex_unlock(&end_lock);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	char byte;

	rounds = argc > 1 ? atol(argv[1]) : 1;
	pthread_barrier_init(&begun, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	pthread_barrier_wait(&begun);
	puts("begun");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	pthread_mutex_lock(&end_lock);
	is_over = 1;
	pthread_cond_broadcast(&end);
	pthread_mutex_unlock(&end_lock);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", sum);
	return 0;
}
