/* SPDX-License-Identifier: MIT */
/*
 * Pairs of programs: the same work with a lock that makes threads wait, and, compiled with -DFIXED,
 * with the change that helps. Two threads, which begin together, so that two CPUs show the
 * difference.
 */
#ifndef TESTS_REPLAY_PAIR_H
#define TESTS_REPLAY_PAIR_H

#include <pthread.h>

#define N_THREADS 2
#define N_ROUNDS  5000

#ifdef FIXED
#define IS_FIXED 1
#else
#define IS_FIXED 0
#endif

/* About n us. */
static inline void work(int n)
{
	for (volatile int i = 0; i < n * 400; i++)
		;
}

static pthread_barrier_t pair_start;
static void *(*pair_run)(void *number);

static inline void *pair_begin(void *number)
{
	pthread_barrier_wait(&pair_start);
	return pair_run(number);
}

/* Executes run(number) in each thread. */
static inline int run_threads(void *(*run)(void *number))
{
	static int numbers[N_THREADS];
	pthread_t threads[N_THREADS];

	pair_run = run;
	pthread_barrier_init(&pair_start, NULL, N_THREADS);
	for (int i = 0; i < N_THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, pair_begin, &numbers[i]))
			return 1;
	}
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

#endif
