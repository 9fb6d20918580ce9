/* SPDX-License-Identifier: MIT */
/*
 * Threads with known calls, for every compiler, language and way of linking: thread 1 calls `leaf`
 * 100 times; thread 2 calls `middle` 50 times, which calls `leaf` twice and `many_arguments` once.
 * -DPART=1 and -DPART=2 give two files, one of which is built without instrumentation.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noipa)) /* a clone would have another name */
#endif
#define OPAQUE __asm__ volatile("" ::: "memory") /* no tail calls, no constant propagation */

int leaf(int x);
double many_arguments(int n, ...);
int middle(int x);
void *run_leaf(void *unused);
void *run_middle(void *unused);

#if !defined(PART) || PART == 1
NOINLINE int leaf(int x)
{
	OPAQUE;
	return x + 1;
}

NOINLINE double many_arguments(int n, ...)
{
	double sum = 0;
	va_list list;

	va_start(list, n);
	for (int i = 0; i < n; i++)
		sum += va_arg(list, double) + va_arg(list, int);
	va_end(list);
	OPAQUE;
	return sum;
}
#endif

#if !defined(PART) || PART == 2
NOINLINE int middle(int x)
{
	int y = leaf(x);

	OPAQUE;
	y += leaf(y);
	OPAQUE;
	/* Wrong if al, a vector register or the return value was not preserved. */
	if (many_arguments(3, 1.5, 1, 2.5, 2, 3.5, 3) != 13.5)
		abort();
	return y;
}

NOINLINE void *run_leaf(void *unused)
{
	for (int i = 0; i < 100; i++)
		if (leaf(i) != i + 1)
			abort();
	OPAQUE;
	return unused;
}

NOINLINE void *run_middle(void *unused)
{
	for (int i = 0; i < 50; i++)
		if (middle(i) != 2 * i + 3)
			abort();
	OPAQUE;
	return unused;
}

int main(void)
{
	void *(*const routines[])(void *) = {run_leaf, run_middle};
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		pthread_create(&thread, NULL, routines[i], NULL);
		pthread_join(thread, NULL);
	}
	return 7;
}
#endif

#ifdef __cplusplus
}
#endif
