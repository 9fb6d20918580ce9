/* SPDX-License-Identifier: MIT */
/*
 * default arena|tiles THREADS N: programs with little work between their locks.  arena: N times,
 * an allocation or a free under the one mutex that guards the heap; tiles: N times, a small part of
 * a computation whose number is taken under a mutex.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 16
#define N_KEPT	    64

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long n, next;
static volatile double sum;

static void *take(size_t size_bytes)
{
	void *memory;

	pthread_mutex_lock(&mutex);
	memory = malloc(size_bytes);
	pthread_mutex_unlock(&mutex);
	return memory;
}

static void give(void *memory)
{
	pthread_mutex_lock(&mutex);
	free(memory);
	pthread_mutex_unlock(&mutex);
}

static void *arena(void *arg)
{
	void *kept[N_KEPT] = {NULL};
	unsigned random = 1;

	for (long i = 0; i < n; i++) {
		void **at;

		random = random * 1103515245 + 12345;
		at = &kept[random >> 20 & (N_KEPT - 1)];
		if (*at != NULL)
			give(*at);
		*at = take(16 + (random >> 8 & 255));
		memset(*at, 1, 16);
	}
	for (int i = 0; i < N_KEPT; i++)
		give(kept[i]);
	return arg;
}

static void *tiles(void *arg)
{
	double mine = 0;

	for (;;) {
		long tile;

		pthread_mutex_lock(&mutex);
		tile = next++;
		pthread_mutex_unlock(&mutex);
		if (tile >= n)
			break;
		for (int k = 0; k < 20; k++)
			mine += sqrt((double)tile + k) * 0.5;
	}
	sum = mine;
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	int n_threads = argc == 4 ? atoi(argv[2]) : 0;

	if (n_threads < 1 || n_threads > MAX_THREADS)
		return 2;
	n = atol(argv[3]);
	for (int i = 0; i < n_threads; i++)
		pthread_create(&threads[i], NULL, strcmp(argv[1], "arena") ? tiles : arena, NULL);
	for (int i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
