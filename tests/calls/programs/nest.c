/* SPDX-License-Identifier: MIT */
/*
 * nest: makes a few nested calls, some from a function that is not profiled. Prints its tid.
 */
#include <setjmp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

static jmp_buf back;

NOINLINE void fe(void)
{
}

NOINLINE void fd(int jumps)
{
	fe();
	if (jumps)
		longjmp(back, 1);
}

NOINLINE void fc(int jumps)
{
	fd(jumps);
	__asm__ volatile(""); /* prevents a tail call */
}

UNPROFILED static void between(void)
{
	fe();
	fe();
	__asm__ volatile("");
}

NOINLINE void fb(void)
{
	between();
	fc(0);
	__asm__ volatile("");
}

NOINLINE void fa(int n)
{
	if (n > 0)
		fa(n - 1);
	if (setjmp(back) == 0)
		fc(1);
	fb();
	__asm__ volatile("");
}

UNPROFILED int main(void)
{
	printf("%ld\n", syscall(SYS_gettid));
	fflush(stdout);
	fa(1);
	fe();
	return 0;
}
