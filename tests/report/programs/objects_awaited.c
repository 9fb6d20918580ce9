/* SPDX-License-Identifier: MIT */
/*
 * objects_awaited ENDED [PLACES]: initializes ENDED mutexes, at PLACES (64) addresses in turn; a
 * second thread waits for each, then it is destroyed.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static pthread_mutex_t *places;
static long n_ended, n_places;
static long n_held, n_done; /* so many mutexes were locked by main; awaited and released */

static void await(const long *counter, long least)
{
	while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < least)
		sched_yield();
}

static void *wait_for_each(void *unused)
{
	for (long i = 0; i < n_ended; i++) {
		await(&n_held, i + 1);
		pthread_mutex_lock(&places[i % n_places]);
		pthread_mutex_unlock(&places[i % n_places]);
		__atomic_store_n(&n_done, i + 1, __ATOMIC_RELEASE);
	}
	return unused;
}

static void use_once(pthread_mutex_t *mutex, long i)
{
	pthread_mutex_init(mutex, NULL);
	pthread_mutex_lock(mutex);
	__atomic_store_n(&n_held, i + 1, __ATOMIC_RELEASE);
	/* glibc: 2 if a thread waits */
	while (__atomic_load_n(&mutex->__data.__lock, __ATOMIC_ACQUIRE) != 2)
		sched_yield();
	pthread_mutex_unlock(mutex);
	await(&n_done, i + 1);
	pthread_mutex_destroy(mutex);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	n_ended = argc > 1 ? atol(argv[1]) : 0;
	n_places = argc > 2 ? atol(argv[2]) : 64;
	places = calloc((size_t)n_places, sizeof(*places));
	if (!places || pthread_create(&thread, NULL, wait_for_each, NULL) != 0)
		return 1;
	for (long i = 0; i < n_ended; i++)
		use_once(&places[i % n_places], i);
	pthread_join(thread, NULL);
	free(places);
	return 0;
}
