/* SPDX-License-Identifier: MIT */
/*
 * Two threads lock without end; the program calls exit() meanwhile.
 */
#include <pthread.h>
#include <stdlib.h>

static volatile int n_begun;

static void *locks(void *unused)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	for (unsigned n = 0;; n++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		if (n == 1000)
			__atomic_fetch_add(&n_begun, 1, __ATOMIC_RELAXED);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, locks, NULL) != 0)
			return 1;
	while (n_begun < 2)
		;
	exit(7);
}
