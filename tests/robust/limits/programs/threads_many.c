/* SPDX-License-Identifier: MIT */
/*
 * threads_many N: makes up to N threads that exist at the same time.  Each calls `leaf` and locks a
 * mutex once at its start, and once after all have started.  Prints the number of threads, the last
 * error of pthread_create() (0: none), and the number of calls.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STACK_BYTES 65536
#define NOINLINE    __attribute__((noinline, noipa))
#define UNPROFILED  __attribute__((noinline, noipa, no_instrument_function))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static long n_calls;

NOINLINE static void leaf(void)
{
	n_calls++;
}

UNPROFILED static void once(void)
{
	pthread_mutex_lock(&mutex);
	leaf();
	pthread_mutex_unlock(&mutex);
}

UNPROFILED static void *work(void *unused)
{
	once();
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	once();
	return unused;
}

UNPROFILED int main(int argc, char **argv)
{
	int wanted = argc > 1 ? atoi(argv[1]) : 1000, n = 0, error = 0;
	pthread_t *threads = calloc((size_t)wanted, sizeof(*threads));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_mutex_lock(&gate);
	while (n < wanted && (error = pthread_create(&threads[n], &attr, work, NULL)) == 0)
		n++;
	pthread_mutex_unlock(&gate);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("%d %d %ld\n", n, error, n_calls);
	return 7;
}
