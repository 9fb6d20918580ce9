/* SPDX-License-Identifier: MIT */
/* starts THREADS AT_ONCE: prints the milliseconds per thread, from its creation to its end. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

__attribute__((noinline, noipa)) static void target(void)
{
	__asm__ volatile("");
}

UNPROFILED static void *run(void *unused)
{
	target();
	return unused;
}

UNPROFILED static void start(pthread_t *threads, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			exit(1);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

UNPROFILED static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

UNPROFILED int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1, done = 0;
	unsigned at_once = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	pthread_t *threads = calloc(at_once, sizeof(*threads));
	double begin;

	start(threads, 1);
	begin = now_ms();
	for (; done < n; done += at_once)
		start(threads, at_once);
	printf("%.4f\n", (now_ms() - begin) / done);
	free(threads);
	return 0;
}
