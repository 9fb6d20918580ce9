/* SPDX-License-Identifier: MIT */
/*
 * short_threads N: threads that each use 1 ms of CPU time, less than a sampling period. Prints the
 * CPU time that they used in all, and that of the process, in nanoseconds.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"

__attribute__((no_instrument_function)) static void *run(void *used)
{
	burn_ms(1);
	*(uint64_t *)used += cpu_ns();
	return NULL;
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	uint64_t used = 0;

	for (int i = 0; i < n; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, &used) != 0)
			return 2;
		pthread_join(thread, NULL);
	}
	printf("%lu %lu\n", used, process_cpu_ns());
	return 0;
}
