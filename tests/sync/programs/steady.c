/* SPDX-License-Identifier: MIT */
/* Three threads lock N times each; prints the sum. For runs in which recording fails. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long n, sum;

static void *run(void *arg)
{
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		sum++;
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	n = argc > 1 ? atol(argv[1]) : 1000;
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			return 1;
	for (int i = 0; i < 3; i++)
		if (pthread_join(threads[i], NULL) != 0)
			return 2;
	printf("%ld\n", sum);
	return 33;
}
