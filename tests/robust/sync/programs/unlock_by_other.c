/* SPDX-License-Identifier: MIT */
/*
 * Two threads take turns to unlock a mutex that the other one has locked; no lock waits.  The
 * second thread also initializes and destroys other mutexes in between, which adds events to its
 * streams.
 *
 * Prints the address of the mutex.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define ROUNDS 100

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int turn;

static void wait_for(int mine)
{
	while (turn != mine)
		sched_yield();
}

static void *other(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_t made;

		wait_for(1);
		pthread_mutex_unlock(&mutex);
		pthread_mutex_lock(&mutex);
		pthread_mutex_init(&made, NULL);
		pthread_mutex_destroy(&made);
		turn = 2;
	}
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, other, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		turn = 1;
		wait_for(2);
		pthread_mutex_unlock(&mutex);
		turn = 0;
	}
	pthread_join(thread, NULL);
	printf("%p\n", (void *)&mutex);
	return 0;
}
