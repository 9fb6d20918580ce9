/* SPDX-License-Identifier: MIT */
/*
 * Threads that name themselves after their first calls are recorded, and a process that does not
 * live to hear from them what they are called.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t named;

static __attribute__((noinline)) void take(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void *run(void *name)
{
	take();
	pthread_setname_np(pthread_self(), name);
	take();
	pthread_barrier_wait(&named);
	for (;;)
		pause();
	return NULL;
}

int main(void)
{
	static char names[][16] = {"doomed", "bystander"};
	pthread_t threads[2];

	pthread_barrier_init(&named, NULL, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, names[i]);
	pthread_barrier_wait(&named);
	kill(getpid(), SIGKILL);
	return 0;
}
