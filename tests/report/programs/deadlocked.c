/* SPDX-License-Identifier: MIT */
/*
 * Two threads take two locks in opposite order, and wait for each other for ever; a third one waits
 * for one of these locks, and main for a thread.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t met;

static void *take(void *first)
{
	pthread_mutex_lock(first);
	pthread_barrier_wait(&met);
	pthread_mutex_lock(first == &left ? &right : &left);
	return NULL;
}

static void *follow(void *unused)
{
	pthread_mutex_lock(&left);
	return unused;
}

int main(void)
{
	pthread_t taker, other, follower;

	pthread_barrier_init(&met, NULL, 3);
	pthread_create(&taker, NULL, take, &left);
	pthread_create(&other, NULL, take, &right);
	pthread_barrier_wait(&met);
	pthread_create(&follower, NULL, follow, NULL);
	puts("deadlocked");
	fflush(stdout);
	pthread_join(taker, NULL);
	return 0;
}
