/* SPDX-License-Identifier: MIT */
/* starts N: makes N threads that exist at the same time and lock a mutex once each. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX 1000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static long locked;

static void *run(void *arg)
{
	pthread_mutex_lock(&mutex);
	locked++;
	pthread_mutex_unlock(&mutex);
	pthread_barrier_wait(&barrier);
	return arg;
}

int main(int argc, char **argv)
{
	static pthread_t threads[MAX];
	int n = argc > 1 ? atoi(argv[1]) : 1;

	if (n < 1 || n > MAX || pthread_barrier_init(&barrier, NULL, (unsigned)n) != 0)
		return 2;
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", locked);
	return 0;
}
