/* SPDX-License-Identifier: MIT */
/*
 * sampled DEPTH: executes a fixed amount of work at that depth of calls, on several paths, and
 * prints the CPU time that it took, in nanoseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noipa))
#define ROUNDS	 200000

static volatile unsigned long sink;

NOINLINE static void work(void)
{
	for (unsigned long i = 0; i < 20000; i++)
		sink += i * i;
}

NOINLINE static void even(int depth);

NOINLINE static void odd(int depth)
{
	if (depth > 0)
		even(depth - 1);
	else
		work();
	sink++; /* prevents a tail call */
}

NOINLINE static void even(int depth)
{
	if (depth > 0)
		odd(depth - 1);
	else
		work();
	sink++;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 15;
	struct timespec now;

	for (int i = 0; i < ROUNDS; i++)
		odd(depth + i % 2);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	printf("%lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
	return 0;
}
