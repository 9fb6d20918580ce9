/* SPDX-License-Identifier: MIT */
/*
 * quick_exit() with a handler that calls and locks: 11 times, with that before it.
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
