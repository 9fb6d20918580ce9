/* SPDX-License-Identifier: MIT */
/*
 * objects ENDED ROUNDS [PLACES]: initializes, locks, unlocks and destroys ENDED mutexes, at PLACES
 * (64) addresses in turn; then locks and unlocks the mutex `counter` ROUNDS times.
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t counter = PTHREAD_MUTEX_INITIALIZER;

static void use_once(pthread_mutex_t *mutex)
{
	pthread_mutex_init(mutex, NULL);
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	pthread_mutex_destroy(mutex);
}

int main(int argc, char **argv)
{
	long n_ended = argc > 1 ? atol(argv[1]) : 0, n_rounds = argc > 2 ? atol(argv[2]) : 0;
	long n_places = argc > 3 ? atol(argv[3]) : 64;
	pthread_mutex_t *places = calloc((size_t)n_places, sizeof(*places));

	if (!places)
		return 1;
	for (long i = 0; i < n_ended; i++)
		use_once(&places[i % n_places]);
	for (long i = 0; i < n_rounds; i++) {
		pthread_mutex_lock(&counter);
		pthread_mutex_unlock(&counter);
	}
	free(places);
	return 0;
}
