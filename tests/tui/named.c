/* SPDX-License-Identifier: MIT */
/* A thread whose name has more bytes than characters waits for main(). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_main(void *arg)
{
	pthread_setname_np(pthread_self(), "gr\xc3\xb6\xc3\x9f\x65");
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, wait_for_main, NULL);
	/* glibc: 2 is locked, with somebody who waits. */
	while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) != 2)
		sched_yield();
	pthread_mutex_unlock(&mutex);
	return pthread_join(thread, NULL);
}
