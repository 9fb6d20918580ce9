/* SPDX-License-Identifier: MIT */
/* readings ROUNDS: prints the nanoseconds that two consecutive readings of the TSC take. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000000;
	static volatile uint64_t sink;
	double start_ns = cpu_ns();

	for (long i = rounds; i > 0; i--) {
		sink = __builtin_ia32_rdtsc();
		sink = __builtin_ia32_rdtsc();
	}
	printf("%.3f\n", (cpu_ns() - start_ns) / (double)rounds);
	return 0;
}
