/* SPDX-License-Identifier: MIT */
/*
 * kept ROUNDS HOW: four threads call `leaf` and lock a mutex ROUNDS times, and again after the
 * program has printed "half" and read a line.  HOW selects its end: return, _exit, daemon or kill.
 * Prints the numbers of calls and locks.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_THREADS  4
#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

static pthread_mutex_t mutexes[N_THREADS];
static pthread_barrier_t half, go;
static int n_rounds;

NOINLINE static void leaf(void)
{
	__asm__ volatile("");
}

UNPROFILED static void rounds(pthread_mutex_t *mutex)
{
	for (int i = 0; i < n_rounds; i++) {
		pthread_mutex_lock(mutex);
		leaf();
		pthread_mutex_unlock(mutex);
	}
}

UNPROFILED static void *work(void *mutex)
{
	rounds(mutex);
	pthread_barrier_wait(&half);
	pthread_barrier_wait(&go);
	rounds(mutex);
	return NULL;
}

UNPROFILED int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];

	n_rounds = argc > 1 ? atoi(argv[1]) : 1000;
	pthread_barrier_init(&half, NULL, N_THREADS + 1);
	pthread_barrier_init(&go, NULL, N_THREADS + 1);
	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, &mutexes[i]) != 0)
			return 2;
	pthread_barrier_wait(&half);
	printf("half\n");
	fflush(stdout);
	getchar();
	pthread_barrier_wait(&go);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d %d\n", 2 * n_rounds * N_THREADS, 2 * n_rounds * N_THREADS);
	fflush(stdout);
	if (argc > 2 && strcmp(argv[2], "_exit") == 0)
		_exit(7);
	if (argc > 2 && strcmp(argv[2], "daemon") == 0 && daemon(1, 1) == 0)
		_exit(0);
	if (argc > 2 && strcmp(argv[2], "kill") == 0)
		kill(getpid(), SIGKILL);
	return 7;
}
