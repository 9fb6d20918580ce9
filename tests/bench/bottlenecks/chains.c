/* SPDX-License-Identifier: MIT */
/* chains N: four threads lock one of two outer mutexes, and the inner one within, N times in all.
 */
#include <pthread.h>
#include <stdlib.h>

#define N_THREADS 4

static pthread_mutex_t outer[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static long n;

static void work(unsigned turns)
{
	for (volatile unsigned i = 0; i < turns; i++)
		;
}

static void *run(void *number)
{
	pthread_mutex_t *own = &outer[(long)number % 2];

	for (long i = 0; i < n / N_THREADS; i++) {
		pthread_mutex_lock(own);
		work(20);
		pthread_mutex_lock(&inner);
		work(50);
		pthread_mutex_unlock(&inner);
		pthread_mutex_unlock(own);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];

	n = argc > 1 ? atol(argv[1]) : 1000000;
	for (long i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
