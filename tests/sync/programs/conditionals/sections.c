/* SPDX-License-Identifier: MIT */
/*
 * Two critical sections for each of which another thread waits from begin to end. The first one
 * executes many conditionals and calls few functions; the second one a quarter as many, most of
 * them in calls. ROUNDS times each.
 */
#include <pthread.h>
#include <semaphore.h>

#include "handshake.h"

#define ROUNDS 20

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static sem_t unused_sem;
static volatile unsigned sum;

static void loop(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i;
}

static void step(unsigned i)
{
	if (i % 2)
		sum++;
}

static void in_first(void)
{
	pthread_mutex_lock(&first);
	handshake_held();
	sem_post(&unused_sem); /* from here on, what follows is counted on its own */
	loop(20000);
	pthread_mutex_unlock(&first);
	handshake_done();
}

static void in_second(void)
{
	pthread_mutex_lock(&second);
	handshake_held();
	sem_post(&unused_sem);
	for (unsigned i = 0; i < 1000; i++)
		step(i);
	pthread_mutex_unlock(&second);
	handshake_done();
}

static void *waiter(void *unused)
{
	handshake_waiter();
	for (int i = 0; i < 2 * ROUNDS; i++) {
		pthread_mutex_t *lock = i % 2 ? &second : &first;

		handshake_come();
		pthread_mutex_lock(lock);
		pthread_mutex_unlock(lock);
		handshake_went();
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	sem_init(&unused_sem, 0, 0);
	pthread_create(&thread, NULL, waiter, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		in_first();
		in_second();
	}
	return pthread_join(thread, NULL);
}
