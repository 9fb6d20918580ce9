/* SPDX-License-Identifier: MIT */
/*
 * Calls `leaf` and locks a mutex once, then 10 times in a handler of quick_exit().
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline, noipa)) static void leaf(void)
{
	__asm__ volatile("");
}

__attribute__((no_instrument_function)) static void handler(void)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&mutex);
		leaf();
		pthread_mutex_unlock(&mutex);
	}
}

int main(void)
{
	at_quick_exit(handler);
	pthread_mutex_lock(&mutex);
	leaf();
	pthread_mutex_unlock(&mutex);
	quick_exit(7);
}
