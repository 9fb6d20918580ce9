/* SPDX-License-Identifier: MIT */
/*
 * handover sem|cond ROUNDS: main() asks a second thread for a result and waits for it, ROUNDS
 * times; the second thread works for a millisecond for each, and main() for none.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sem_t request, result;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static bool is_workers;
static bool by_cond;
static int n_rounds;

static void work(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 1000000);
}

/* Gives the turn away, unless it is the first one of the thread, and waits for it. */
static void pass_turn(bool to_worker, bool is_first)
{
	pthread_mutex_lock(&mutex);
	if (!is_first) {
		is_workers = to_worker;
		pthread_cond_signal(&turn);
	}
	while (is_workers == to_worker)
		pthread_cond_wait(&turn, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void *worker(void *unused)
{
	for (int i = 0; i < n_rounds; i++) {
		if (by_cond)
			pass_turn(false, i == 0);
		else
			sem_wait(&request);
		work();
		if (!by_cond)
			sem_post(&result);
	}
	if (by_cond) {
		pthread_mutex_lock(&mutex);
		is_workers = false;
		pthread_cond_signal(&turn);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	by_cond = argc > 1 && strcmp(argv[1], "cond") == 0;
	n_rounds = argc > 2 ? atoi(argv[2]) : 100;
	sem_init(&request, 0, 0);
	sem_init(&result, 0, 0);
	if (pthread_create(&thread, NULL, worker, NULL) != 0)
		return 1;
	for (int i = 0; i < n_rounds; i++) {
		if (by_cond) {
			pass_turn(true, false);
		} else {
			sem_post(&request);
			sem_wait(&result);
		}
	}
	pthread_join(thread, NULL);
	return 0;
}
