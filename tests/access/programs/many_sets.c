/* SPDX-License-Identifier: MIT */
/* More sets than a stream has places for, each of which is used twice, and three threads. */
#include <pthread.h>

#define N 3000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int cells[64 * N];

static void *run(void *unused)
{
	for (int i = 0; i < 2 * N; i++) {
		pthread_mutex_lock(&mutex);
		cells[16 * (i % N)]++;
		cells[16 * (i % N / 7)] = i;
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	run(NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
