/* SPDX-License-Identifier: MIT */
/*
 * Frames at all distances from the start of a page, for stepper. When a function has restored %rbp,
 * its table still says where that was saved, which is below %rsp and may be in the page before.
 */
#include <stdlib.h>
#include <ucontext.h>

#include "stepped.h"

#define APART	   __attribute__((noinline, noclone))
#define PAGE_BYTES 4096
#define N_STARTS   32

static char stack[2 * STACK_BYTES + PAGE_BYTES] __attribute__((aligned(PAGE_BYTES)));
static ucontext_t outside, inside;
static volatile int n_visits, unknown[6];

/* Saves all registers that callers rely on. */
APART static void visit(int n)
{
	int a = unknown[0], b = unknown[1], c = unknown[2], d = unknown[3], e = unknown[4];

	if (n > 0)
		visit(n - 1);
	unknown[5] = a + b + c + d + e + n;
	n_visits++;
}

/* Calls it with a stack that begins there. */
APART static void visit_at(char *start)
{
	volatile char *room =
	    __builtin_alloca((size_t)((char *)__builtin_frame_address(0) - start));

	room[0] = 0;
	visit(1);
	room[0] = 1;
}

static void coroutine(void)
{
	for (int i = 0; i < N_STARTS; i++)
		visit_at(stack + STACK_BYTES + 16 * i);
}

void stepped(void)
{
	step_stack(stack, sizeof(stack));
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	swapcontext(&outside, &inside);
	if (n_visits != N_STARTS * 2)
		abort();
}
