/* SPDX-License-Identifier: MIT */
/* The work of a thread: three calls and three locks. */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int n_locks;

void work(void);
__attribute__((noinline)) void work(void)
{
	__asm__ volatile("");
}

static void three_rounds(void)
{
	for (int i = 0; i < 3; i++) {
		work();
		pthread_mutex_lock(&mutex);
		n_locks++;
		pthread_mutex_unlock(&mutex);
	}
}
