/* SPDX-License-Identifier: MIT */
/* live THREADS STEPS: each step computes for some 20 us, and then takes one of 64 mutexes. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N_LOCKS 64
#define MOST	64

static pthread_mutex_t mutexes[N_LOCKS];
static uint64_t values[N_LOCKS];
static int n_steps;

static void *work(void *number)
{
	uint64_t random = (uint64_t)(uintptr_t)number;

	for (int i = 0; i < n_steps; i++) {
		for (int k = 0; k < 15000; k++)
			random = random * 6364136223846793005u + 1442695040888963407u;
		pthread_mutex_lock(&mutexes[random >> 58]);
		values[random >> 58]++;
		pthread_mutex_unlock(&mutexes[random >> 58]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t threads[MOST];

	n_steps = argc > 2 ? atoi(argv[2]) : 1000;
	for (int i = 0; i < N_LOCKS; i++)
		pthread_mutex_init(&mutexes[i], NULL);
	for (int i = 0; i < n && i < MOST; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1));
	for (int i = 0; i < n && i < MOST; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
