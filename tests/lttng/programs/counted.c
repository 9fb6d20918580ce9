/* SPDX-License-Identifier: MIT */
/*
 * counted THREADS ROUNDS [WAIT]: makes a known number of operations, independent of timing. With
 * WAIT it then prints "ready" and waits for a signal to end it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static sem_t done;
static int rounds;

static void round_trip(void)
{
	pthread_mutex_lock(&shared);
	pthread_mutex_unlock(&shared);
	pthread_rwlock_rdlock(&table);
	pthread_rwlock_unlock(&table);
	pthread_rwlock_wrlock(&table);
	pthread_rwlock_unlock(&table);
}

static void *work(void *arg)
{
	pthread_setname_np(pthread_self(), "worker");
	for (int i = 0; i < rounds; i++)
		round_trip();
	sem_post(&done);
	return arg;
}

int main(int argc, char **argv)
{
	int n_threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[16];

	rounds = argc > 2 ? atoi(argv[2]) : 1;
	if (n_threads > 16)
		return 1;
	sem_init(&done, 0, 0);
	for (int i = 0; i < rounds; i++)
		round_trip();
	for (int i = 0; i < n_threads; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < n_threads; i++)
		sem_wait(&done);
	for (int i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	if (argc > 3) {
		puts("ready");
		fflush(stdout);
		for (;;)
			pause();
	}
	return 3;
}
