/* SPDX-License-Identifier: MIT */
/*
 * records THREADS ALIVE LOCKS STEPS, or records RATE: a server whose records have a mutex each (the
 * program of paper 002 in its figures: 65 M locks over the run, 340,000 alive, 30,000 acquisitions
 * per second and thread).
 *
 * Each thread replaces records, oldest first: LOCKS are created in all, ALIVE exist at a time, and
 * each is taken once.  Every 64th time, the thread also takes the one mutex of the index.  Before
 * each acquisition the thread computes STEPS steps.  Prints a checksum.
 *
 * With RATE alone: prints how many steps take 1/RATE s, so that all runs compute the same.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MAX_THREADS    64
#define INDEX_PERIOD   64
#define INDEX_STEPS    400
#define MEASURED_STEPS 200000000

struct record {
	pthread_mutex_t mutex;
	unsigned long value;
};

static pthread_mutex_t index_mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long in_index;
static long n_alive, n_locks, n_steps;

static unsigned long compute(unsigned long x, long steps)
{
	while (steps-- > 0)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	return x;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void print_steps(double rate)
{
	volatile unsigned long sink;
	double begin = now_s(), s;

	sink = compute(1, MEASURED_STEPS);
	(void)sink;
	s = now_s() - begin;
	printf("%ld\n", (long)(MEASURED_STEPS / s / rate));
}

static void update_index(void)
{
	pthread_mutex_lock(&index_mutex);
	in_index = compute(in_index, INDEX_STEPS);
	pthread_mutex_unlock(&index_mutex);
}

static struct record *replace(struct record *old, unsigned long value)
{
	if (old) {
		pthread_mutex_destroy(&old->mutex);
		free(old);
	}
	old = malloc(sizeof(*old));
	if (!old)
		abort();
	pthread_mutex_init(&old->mutex, NULL);
	pthread_mutex_lock(&old->mutex);
	old->value = value;
	pthread_mutex_unlock(&old->mutex);
	return old;
}

static void *serve(void *arg)
{
	struct record **records = calloc((size_t)n_alive, sizeof(*records));
	unsigned long x = (unsigned long)arg;

	if (!records)
		abort();
	for (long i = 0; i < n_locks; i++) {
		struct record **at = &records[i % n_alive];

		x = compute(x, n_steps);
		*at = replace(*at, x);
		if (i % INDEX_PERIOD == 0)
			update_index();
	}
	for (long i = 0; i < n_alive; i++) {
		if (!records[i])
			continue;
		pthread_mutex_destroy(&records[i]->mutex);
		free(records[i]);
	}
	free(records);
	return (void *)x;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	unsigned long sum = 0;
	long n_threads;

	if (argc == 2) {
		print_steps(atof(argv[1]));
		return 0;
	}
	if (argc != 5)
		return 2;
	n_threads = atol(argv[1]);
	if (n_threads < 1 || n_threads > MAX_THREADS)
		return 2;
	n_alive = atol(argv[2]) / n_threads;
	n_locks = atol(argv[3]) / n_threads;
	n_steps = atol(argv[4]);
	if (n_alive < 1 || n_locks < 1)
		return 2;
	for (long i = 0; i < n_threads; i++)
		if (pthread_create(&threads[i], NULL, serve, (void *)(i + 1)))
			return 1;
	for (long i = 0; i < n_threads; i++) {
		void *value;

		pthread_join(threads[i], &value);
		sum += (unsigned long)value;
	}
	printf("%lx\n", sum ^ in_index);
	return 0;
}
