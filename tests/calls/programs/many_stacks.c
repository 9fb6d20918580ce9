/* SPDX-License-Identifier: MIT */
/* many_stacks THREADS DEPTH: each thread makes 2^(DEPTH + 1) - 1 calls, each with another stack. */
#include <pthread.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noipa))

static int depth;

NOINLINE static void left(int n);

NOINLINE static void right(int n)
{
	if (n > 0) {
		left(n - 1);
		right(n - 1);
	}
}

NOINLINE static void left(int n)
{
	if (n > 0) {
		left(n - 1);
		right(n - 1);
	}
}

__attribute__((no_instrument_function)) static void *run(void *arg)
{
	left(depth);
	return arg;
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	pthread_t threads[8];
	int n_threads = argc > 2 ? atoi(argv[1]) : 0;

	if (n_threads < 1 || n_threads > 8)
		return 2;
	depth = atoi(argv[2]);
	for (int i = 0; i < n_threads; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
