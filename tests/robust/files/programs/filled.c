/* SPDX-License-Identifier: MIT */
/*
 * filled THREADS: makes THREADS threads, four at a time.  Each calls `leaf` from 192 call sites and
 * locks a mutex as often.  Prints the numbers of calls and locks.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define AT_ONCE	   4
#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long n_calls, n_locks, n_wrong;

NOINLINE static void leaf(void)
{
	n_calls++;
}

UNPROFILED static void lock(void)
{
	errno = 77;
	pthread_mutex_lock(&mutex);
	n_locks++;
}

UNPROFILED static void unlock(void)
{
	pthread_mutex_unlock(&mutex);
	n_wrong += errno != 77;
}

#define SITE                                                                                       \
	lock();                                                                                    \
	leaf();                                                                                    \
	unlock();
#define SITES_4	 SITE SITE SITE SITE
#define SITES_16 SITES_4 SITES_4 SITES_4 SITES_4
#define SITES_64 SITES_16 SITES_16 SITES_16 SITES_16

UNPROFILED static void *work(void *unused)
{
	SITES_64 SITES_64 SITES_64 return unused;
}

UNPROFILED int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;
	pthread_t threads[AT_ONCE];

	for (int i = 0; i < n; i += AT_ONCE) {
		for (int j = 0; j < AT_ONCE; j++)
			if (pthread_create(&threads[j], NULL, work, NULL) != 0)
				return 2;
		for (int j = 0; j < AT_ONCE; j++)
			pthread_join(threads[j], NULL);
	}
	printf("%lu %lu\n", n_calls, n_locks);
	return n_wrong == 0 ? 7 : 3;
}
