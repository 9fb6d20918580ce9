/* SPDX-License-Identifier: MIT */
/*
 * crowded ROUNDS: calls from 240 call sites once, then from each of twelve others ROUNDS times in
 * turn.  Prints the number of calls.
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

static unsigned long n_calls;

NOINLINE static void target(void)
{
	n_calls++;
}

#define SITE	 target();
#define SITES_4	 SITE SITE SITE SITE
#define SITES_12 SITES_4 SITES_4 SITES_4
#define SITES_60 SITES_12 SITES_12 SITES_12 SITES_12 SITES_12

UNPROFILED int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;

	SITES_60 SITES_60 SITES_60 SITES_60 for (long i = 0; i < rounds;
						 i++){SITES_12} printf("%lu\n", n_calls);
	return 0;
}
