/* SPDX-License-Identifier: MIT */
/* Two threads with different work, none in the main thread: work A B calls leaf A + B times. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noipa))

NOINLINE int leaf(int x)
{
	return x + 1;
}

NOINLINE int middle(int x)
{
	return leaf(x) ^ leaf(x + 2);
}

NOINLINE void *run_leaf(void *arg)
{
	long n = *(long *)arg;
	int x = 0;

	for (long i = 0; i < n; i++)
		x = leaf(x);
	*(long *)arg = x;
	return NULL;
}

NOINLINE void *run_middle(void *arg)
{
	long n = *(long *)arg;
	int x = 0;

	for (long i = 0; i < n; i++)
		x = middle(x);
	*(long *)arg = x;
	return NULL;
}

int main(int argc, char **argv)
{
	long a = argc > 1 ? atol(argv[1]) : 1000, b = argc > 2 ? atol(argv[2]) : 2000;
	pthread_t first, second;

	/* One after the other, so that the first thread has index 1. */
	pthread_create(&first, NULL, run_leaf, &a);
	pthread_join(first, NULL);
	pthread_create(&second, NULL, run_middle, &b);
	pthread_join(second, NULL);
	printf("%ld %ld\n", a, b);
	return 7;
}
