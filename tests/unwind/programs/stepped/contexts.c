/* SPDX-License-Identifier: MIT */
/* Two coroutines on stacks of their own, for stepper: they call, switch, and end. */
#include <stdlib.h>
#include <ucontext.h>

#include "stepped.h"

#define APART __attribute__((noinline, noclone))

static char stacks[2][STACK_BYTES];
static ucontext_t outside, inside[2];
static volatile int n_visits;

APART static void visit(int n)
{
	if (n > 0)
		visit(n - 1);
	n_visits++;
}

APART static void switch_deeply(int i, int n)
{
	if (n > 0)
		switch_deeply(i, n - 1);
	else
		swapcontext(&inside[i], i == 0 ? &inside[1] : &outside);
	n_visits++;
}

static void coroutine(int i)
{
	visit(2);
	switch_deeply(i, 3);
	visit(1);
}

static void make(int i)
{
	step_stack(stacks[i], STACK_BYTES);
	getcontext(&inside[i]);
	inside[i].uc_stack.ss_sp = stacks[i];
	inside[i].uc_stack.ss_size = STACK_BYTES;
	inside[i].uc_link = i == 0 ? &outside : &inside[0];
	makecontext(&inside[i], (void (*)(void))coroutine, 1, i);
}

/* outside, 0, 1, outside, 1 ends, 0 ends, outside */
void stepped(void)
{
	handle_signals();
	make(0);
	make(1);
	swapcontext(&outside, &inside[0]);
	visit(1);
	swapcontext(&outside, &inside[1]);
	if (n_visits != 2 * 3 + 2 + 2 * 4 + 2 * 2)
		abort();
}
