/* SPDX-License-Identifier: MIT */
/*
 * baton ROUNDS: two threads, each on a CPU of its own if there are two. First they alternate by two
 * semaphores, so that each operation causes the other thread's next one; then both acquire one
 * mutex, ROUNDS times each.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static sem_t ping, pong;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long held;
static long rounds;

/* Moves to the n-th permitted CPU, modulo their number. */
static void pin(int n)
{
	cpu_set_t all, one;
	int at = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	n %= CPU_COUNT(&all);
	while (!CPU_ISSET(at, &all) || n-- > 0)
		at++;
	CPU_ZERO(&one);
	CPU_SET(at, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void take(void)
{
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		held++;
		pthread_mutex_unlock(&mutex);
	}
}

static void *answer(void *arg)
{
	pin(1);
	for (long i = 0; i < rounds; i++) {
		sem_wait(&ping);
		sem_post(&pong);
	}
	take();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	rounds = argc > 1 ? atol(argv[1]) : 0;
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	pin(0);
	if (pthread_create(&thread, NULL, answer, NULL))
		return 1;
	for (long i = 0; i < rounds; i++) {
		sem_post(&ping);
		sem_wait(&pong);
	}
	take();
	pthread_join(thread, NULL);
	puts("done");
	return 0;
}
