/* SPDX-License-Identifier: MIT */
/*
 * ring_locks THREADS ROUNDS [END]: THREADS threads lock and unlock one mutex ROUNDS times each; now
 * and then one waits.  END: what main() does then, after "ready" on stdout:
 *   wait  a thread holds `gate` until main() sleeps on it, and 5 ms longer
 *   hold  main() has held `kept` since its start, and releases it
 *   block reads stdin to its end
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER,
		       kept = PTHREAD_MUTEX_INITIALIZER;
static long n_rounds;
static int is_held;

static void *run(void *arg)
{
	for (long i = 0; i < n_rounds; i++) {
		pthread_mutex_lock(&hot);
		pthread_mutex_unlock(&hot);
	}
	return arg;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* 2 in glibc's word: a thread waits. */
static void hold_while_waited(void)
{
	double until;

	while (__atomic_load_n(&gate.__data.__lock, __ATOMIC_RELAXED) != 2)
		usleep(100);
	for (until = now() + 0.005; now() < until;)
		;
}

static void *hold(void *arg)
{
	pthread_mutex_lock(&gate);
	__atomic_store_n(&is_held, 1, __ATOMIC_RELEASE);
	hold_while_waited();
	pthread_mutex_unlock(&gate);
	return arg;
}

static void provoke_wait(void)
{
	pthread_t holder;

	pthread_create(&holder, NULL, hold, NULL);
	while (!__atomic_load_n(&is_held, __ATOMIC_ACQUIRE))
		usleep(100);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	pthread_join(holder, NULL);
}

static void block(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1)
		;
}

int main(int argc, char **argv)
{
	int n_threads = argc > 2 ? atoi(argv[1]) : 1;
	const char *end = argc > 3 ? argv[3] : "";
	pthread_t *threads = calloc((size_t)n_threads, sizeof(*threads));

	n_rounds = argc > 2 ? atol(argv[2]) : 1;
	if (strcmp(end, "hold") == 0)
		pthread_mutex_lock(&kept);
	for (int i = 0; i < n_threads; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	puts("ready");
	fflush(stdout);
	if (strcmp(end, "wait") == 0)
		provoke_wait();
	else if (strcmp(end, "hold") == 0)
		pthread_mutex_unlock(&kept);
	else if (strcmp(end, "block") == 0)
		block();
	free(threads);
	return 0;
}
