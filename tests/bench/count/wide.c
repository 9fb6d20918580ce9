/* SPDX-License-Identifier: MIT */
/*
 * wide STEPS: 100 callers, each with one call site, call 100 functions, in random order: 10,000
 * arcs.  Prints nanoseconds of CPU time per call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

#define EACH_10(m, t)                                                                              \
	m(t##0) m(t##1) m(t##2) m(t##3) m(t##4) m(t##5) m(t##6) m(t##7) m(t##8) m(t##9)
#define EACH_100(m)                                                                                \
	EACH_10(m, 0)                                                                              \
	EACH_10(m, 1)                                                                              \
	EACH_10(m, 2)                                                                              \
	EACH_10(m, 3)                                                                              \
	EACH_10(m, 4)                                                                              \
	EACH_10(m, 5)                                                                              \
	EACH_10(m, 6)                                                                              \
	EACH_10(m, 7)                                                                              \
	EACH_10(m, 8)                                                                              \
	EACH_10(m, 9)

typedef int callee(int);
typedef int caller(callee *, int);

#define DEFINE(n)                                                                                  \
	NOINLINE static int callee_##n(int x)                                                      \
	{                                                                                          \
		return x + 1##n;                                                                   \
	}                                                                                          \
	NOINLINE static int caller_##n(callee *to, int x)                                          \
	{                                                                                          \
		return to(x) ^ 1##n;                                                               \
	}
EACH_100(DEFINE)

#define CALLEE(n) callee_##n,
#define CALLER(n) caller_##n,
static callee *const callees[] = {EACH_100(CALLEE)};
static caller *const callers[] = {EACH_100(CALLER)};

UNPROFILED static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Returns the last value, so that the compiler cannot drop the calls. */
UNPROFILED static int run(const unsigned char *order, long steps)
{
	int x = 0;

	for (long i = 0; i < steps; i++) {
		const unsigned char *pair = order + 2 * (i & 0xffff);

		x = callers[pair[0]](callees[pair[1]], x);
	}
	return x;
}

UNPROFILED int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 1000000;
	static unsigned char order[2 * 65536];
	static volatile int sink;
	double start_ns;

	srand(1);
	for (size_t i = 0; i < sizeof(order); i++)
		order[i] = (unsigned char)(rand() / 7 % 100);
	sink = run(order, 65536); /* every arc is in the table */
	start_ns = cpu_ns();
	sink = run(order, steps);
	printf("%.3f\n", (cpu_ns() - start_ns) / (2.0 * (double)steps));
	return sink & 0;
}
