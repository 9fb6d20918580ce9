/* SPDX-License-Identifier: MIT */
/*
 * tables THREADS ROUNDS: threads take turns to read a table under its lock, ROUNDS times each; in
 * one of four rounds, the first thread also writes it. So it is known which sections are
 * consecutive.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>

#define N_CELLS	    64
#define PERIOD	    4
#define MAX_THREADS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t turns[MAX_THREADS];
static long cells[N_CELLS], n_rounds, n_threads;
static __thread volatile long seen;

static __attribute__((noinline)) void look(void)
{
	long sum = 0;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < N_CELLS; i++)
		sum += cells[i];
	pthread_mutex_unlock(&lock);
	seen = sum;
}

static __attribute__((noinline)) void change(long i)
{
	pthread_mutex_lock(&lock);
	cells[i % N_CELLS] += i + 1;
	pthread_mutex_unlock(&lock);
}

static void *run(void *number)
{
	long self = (intptr_t)number;

	for (long i = 0; i < n_rounds; i++) {
		sem_wait(&turns[self]);
		look();
		if (self == 0 && i % PERIOD == 0)
			change(i);
		sem_post(&turns[(self + 1) % n_threads]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];

	n_threads = argc > 2 ? atol(argv[1]) : 1;
	n_rounds = argc > 2 ? atol(argv[2]) : 1;
	if (n_threads < 1 || n_threads > MAX_THREADS)
		return 1;
	for (long i = 0; i < n_threads; i++)
		sem_init(&turns[i], 0, i == 0);
	for (intptr_t i = 0; i < n_threads; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)i))
			return 1;
	for (long i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
