/* SPDX-License-Identifier: MIT */
/*
 * Functions are called for the first time with ever more stack left, from too little to enough. The
 * program's handler of SIGSEGV runs on an alternate stack and leaves by longjmp(), with the mask
 * that it has. Prints the number of jumps, of jumps after which other signals were blocked, and of
 * signals blocked at the end.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define UNPROFILED __attribute__((no_instrument_function))
#define FIRST_LEFT 300
#define STEP	   40
#define N	   64

#define CASE(i)                                                                                    \
	case i:                                                                                    \
		target();                                                                          \
		break;
#define CASES_4(i)  CASE(i) CASE(i + 1) CASE(i + 2) CASE(i + 3)
#define CASES_16(i) CASES_4(i) CASES_4(i + 4) CASES_4(i + 8) CASES_4(i + 12)

static jmp_buf before;
static char *lowest;

__attribute__((noinline, noipa)) static void target(void)
{
	__asm__ volatile("");
}

/* Each number has a call site of its own, so that its call is a new arc. */
UNPROFILED __attribute__((noinline, noipa)) static void call_deep(int number, ptrdiff_t left)
{
	char here;
	volatile char *used = alloca((size_t)(&here - lowest - left));

	used[0] = 0;
	/* clang-format off */
	switch (number) {
	CASES_16(0) CASES_16(16) CASES_16(32) CASES_16(48)
	}
	/* clang-format on */
}

UNPROFILED static void on_overflow(int signal)
{
	(void)signal;
	longjmp(before, 1);
}

UNPROFILED static int n_blocked(void)
{
	sigset_t set;
	int n = 0;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	for (int signal = 1; signal < 32; signal++)
		n += sigismember(&set, signal);
	return n;
}

UNPROFILED static void *overflow(void *arg)
{
	stack_t alternate = {.ss_sp = malloc(65536), .ss_size = 65536};
	volatile int n_jumps = 0, n_bad = 0;
	pthread_attr_t attributes;
	size_t n_bytes;
	void *stack;

	sigaltstack(&alternate, NULL);
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &stack, &n_bytes);
	lowest = stack;
	for (volatile int i = 0; i < N; i++) {
		if (setjmp(before) == 0) {
			call_deep(i, FIRST_LEFT + STEP * i);
		} else {
			n_jumps++;
			n_bad += n_blocked() > 0;
		}
	}
	printf("%d jumps, %d with blocked signals, %d signals blocked at the end\n", n_jumps, n_bad,
	       n_blocked());
	return arg;
}

UNPROFILED int main(void)
{
	struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK | SA_NODEFER};
	pthread_t thread;

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	if (pthread_create(&thread, NULL, overflow, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
