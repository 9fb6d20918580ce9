/* SPDX-License-Identifier: MIT */
/*
 * Threads set their names after their first recorded calls, and the process is killed before the
 * library records the names.
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
