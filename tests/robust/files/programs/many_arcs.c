/* SPDX-License-Identifier: MIT */
/*
 * many_arcs N: makes a first call, prints "ready", reads a line, then makes N calls from N call
 * sites, so that the tables of calls grow.
 */
#include <stdio.h>
#include <stdlib.h>

#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

void __cyg_profile_func_enter(void *self, void *from);

__attribute__((noinline, noipa)) static void target(void)
{
	__asm__ volatile("");
}

UNPROFILED int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 20000;

	target();
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return 2;
	for (long i = 0; i < n; i++)
		__cyg_profile_func_enter((void *)target, (void *)(0x10000000 + i * 16));
	return 7;
}
