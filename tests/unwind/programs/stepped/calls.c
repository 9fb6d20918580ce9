/* SPDX-License-Identifier: MIT */
/*
 * Calls of many kinds, for stepper: through the PLT and the loader's resolver, tail calls, leaf
 * functions, alloca(), large and aligned frames, variable arguments, callbacks from libc, faults
 * and jumps. Compiled with several options.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stepped.h"

#define APART __attribute__((noinline, noclone))

static volatile long sink;
static volatile int zero;

/* --- functions ---------------------------------------------------------------------------------
 */

APART static long leaf(long a, long b)
{
	volatile long red_zone[8] = {a, b, a + b};

	return red_zone[0] * red_zone[1] + red_zone[2];
}

APART static long tail(long a)
{
	return leaf(a, a + 1);
}

APART static long tail_twice(long a)
{
	return tail(a + 1);
}

APART static long large_frame(long a)
{
	volatile char large[20000];

	large[a] = 1;
	large[sizeof(large) - 1] = 2;
	return leaf(large[a], 3);
}

APART static long with_alloca(size_t n)
{
	char *text = alloca(n);
	long result;

	memset(text, 'x', n);
	text[n - 1] = '\0';
	result = (long)strlen(text);
	return result + leaf((long)n, 1);
}

APART static long aligned_frame(int n)
{
	__attribute__((aligned(64))) volatile long aligned[16];
	volatile char variable[n];

	aligned[3] = n;
	variable[n - 1] = 1;
	return leaf(aligned[3], variable[n - 1]);
}

APART static long sum_of(int n, ...)
{
	va_list list;
	double sum = 0;

	va_start(list, n);
	while (n-- > 0)
		sum += va_arg(list, double);
	va_end(list);
	return (long)sum;
}

APART static long recursive(int n)
{
	return n == 0 ? 1 : recursive(n - 1) + leaf(n, n);
}

struct large {
	long words[12];
};

APART static struct large by_value(struct large in)
{
	in.words[1] = leaf(in.words[0], 2);
	return in;
}

/* All registers that a callee has to keep are in use. */
APART static long many_registers(long a, long b, long c, long d, long e, long f, long g)
{
	long x = leaf(a, b), y = leaf(c, d), z = leaf(e, f), v = leaf(g, a);

	return x * a + y * b + z * c + v * d + leaf(x, y) * e + leaf(z, v) * f + g;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

APART static long callbacks(void)
{
	int numbers[] = {3, 1, 2};

	qsort(numbers, 3, sizeof(int), compare);
	return numbers[0];
}

APART static long by_pointer(long (*volatile function)(long), long a)
{
	return function(a) + 1;
}

/* --- jumps -------------------------------------------------------------------------------------
 */

static jmp_buf back;

/* The call is its last instruction: the return address belongs to the function behind it. */
__attribute__((noinline, noclone, noreturn)) static void jump_out(int n)
{
	if (n > 0) {
		sink += leaf(n, n);
		jump_out(n - 1);
	}
	longjmp(back, 1);
}

APART static long jumps(void)
{
	jmp_buf local;
	volatile long n = 0;

	if (setjmp(back) == 0)
		jump_out(3);
	n++;
	if (_setjmp(local) == 0)
		_longjmp(local, 1);
	return n + 1;
}

/* --- signals -----------------------------------------------------------------------------------
 */

static sigjmp_buf fault;

static void leave_fault(int number)
{
	sink += leaf(number, 1);
	siglongjmp(fault, number);
}

APART static long read_null(const long *pointer)
{
	return *pointer + leaf(1, 1);
}

APART static long faults(void)
{
	long *volatile nowhere = NULL;
	volatile long n = 0;

	if (sigsetjmp(fault, 1) == 0)
		sink = read_null(nowhere);
	n++;
	if (sigsetjmp(fault, 1) == 0)
		sink = 7 / zero;
	return n + 1;
}

static void set_up(void)
{
	struct sigaction leaves = {.sa_handler = leave_fault, .sa_flags = SA_ONSTACK};

	handle_signals();
	sigaction(SIGSEGV, &leaves, NULL);
	leaves.sa_flags = 0;
	sigaction(SIGFPE, &leaves, NULL);
}

static void check(long got, long wanted)
{
	if (got != wanted)
		abort();
}

void stepped(void)
{
	struct large value = {{1}};
	char text[64];

	set_up();
	check(tail_twice(1), 2 * 3 + 5);
	check(large_frame(7), 1 * 3 + 4);
	check(with_alloca(100), 99 + 100 + 101);
	check(aligned_frame(40), 40 + 41);
	check(sum_of(3, 1.0, 2.0, 3.0), 6);
	check(recursive(5), 1 + 5 * 6 / 2 * 2 + 55);
	check(by_value(value).words[1], 2 + 3);
	sink = many_registers(1, 2, 3, 4, 5, 6, 7);
	check(callbacks(), 1);
	check(by_pointer(tail, 2), 2 * 3 + 5 + 1);
	check(jumps(), 2);
	raise(SIGUSR1);
	raise(SIGUSR2);
	check(faults(), 2);
	snprintf(text, sizeof(text), "%s %d %.1f", "a", 5, 2.5);
	check(strcmp(text, "a 5 2.5"), 0);
}
