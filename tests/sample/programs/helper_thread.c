/* SPDX-License-Identifier: MIT */
/*
 * The only other thread calls no profiled function, so the C library's first pthread_create() comes
 * after all threads that are sampled: `after` is called then.
 */
#include <pthread.h>

#include "burn.h"

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sink;

__attribute__((noinline, noipa)) void after(void)
{
	for (unsigned long i = 0; i < 50000; i++)
		sink += i * i;
}

__attribute__((no_instrument_function)) static void *help(void *unused)
{
	pthread_mutex_lock(&held);
	return unused;
}

__attribute__((no_instrument_function)) int main(void)
{
	pthread_t helper;

	burn_ms(1);
	pthread_mutex_lock(&held);
	pthread_create(&helper, NULL, help, NULL);
	for (uint64_t end = cpu_ns() + 60000000; cpu_ns() < end;)
		after();
	pthread_mutex_unlock(&held);
	pthread_join(helper, NULL);
	return 0;
}
