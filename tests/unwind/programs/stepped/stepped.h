/* SPDX-License-Identifier: MIT */
/* The programs for stepper share these handlers of the signals that it sends. */
#ifndef STEPPED_H
#define STEPPED_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tells stepper about a stack before it is used. */
void step_stack(void *start, size_t n_bytes);

/* Calls the function without stepping it. */
void step_skip(void (*function)(void));

/* Asks stepper to send signals. */
void step_signals(void);

/* Is stepped. */
void stepped(void);

#ifdef __cplusplus
}
#endif

#define STACK_BYTES 65536

static volatile int n_handled;

static void handle(int number)
{
	n_handled = n_handled + number;
}

/* SIGUSR1 is handled on the stack that it interrupts, SIGUSR2 on an alternate one. */
static inline void handle_signals(void)
{
	static char other_stack[STACK_BYTES];
	struct sigaction action;
	stack_t stack;

	memset(&action, 0, sizeof(action));
	memset(&stack, 0, sizeof(stack));
	stack.ss_sp = other_stack;
	stack.ss_size = STACK_BYTES;
	step_stack(other_stack, STACK_BYTES);
	sigaltstack(&stack, NULL);
	action.sa_handler = handle;
	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	step_signals();
}

#endif
