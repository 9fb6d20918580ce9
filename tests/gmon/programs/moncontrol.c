/* SPDX-License-Identifier: MIT */
/* Three threads, one of them created while counting is off; each must count `leaf` 10 times. */
#include <pthread.h>
#include <stdio.h>

extern void moncontrol(int mode);

static pthread_barrier_t barrier;

__attribute__((noinline, noipa)) void leaf(void)
{
}

__attribute__((no_instrument_function)) static void ten(void)
{
	for (int i = 0; i < 10; i++)
		leaf();
}

__attribute__((no_instrument_function)) static void *run(void *unused)
{
	ten(); /* counted by the thread that exists before moncontrol(0) */
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	ten();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return unused;
}

__attribute__((no_instrument_function)) static void *run_late(void *unused)
{
	ten();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	ten();
	return unused;
}

__attribute__((no_instrument_function)) int main(void)
{
	pthread_t first, second;

	pthread_barrier_init(&barrier, NULL, 2);
	ten();
	pthread_create(&first, NULL, run, NULL);
	pthread_barrier_wait(&barrier);
	moncontrol(0);
	pthread_barrier_wait(&barrier);
	ten();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	pthread_join(first, NULL);
	pthread_create(&second, NULL, run_late, NULL);
	pthread_barrier_wait(&barrier);
	moncontrol(1);
	pthread_barrier_wait(&barrier);
	pthread_join(second, NULL);
	return 0;
}
