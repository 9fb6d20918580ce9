/* SPDX-License-Identifier: MIT */
/* named NAME: a thread of that name waits for main(). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_main(void *arg)
{
	pthread_setname_np(pthread_self(), arg);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 2)
		return 2;
	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, wait_for_main, argv[1]);
	/* glibc: 2 is locked with waiters. */
	while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) != 2)
		sched_yield();
	pthread_mutex_unlock(&mutex);
	return pthread_join(thread, NULL);
}
