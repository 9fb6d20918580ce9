/* SPDX-License-Identifier: MIT */
/*
 * stack_use MS: a thread uses MS of CPU time on a stack of PTHREAD_STACK_MIN bytes, above a guard
 * page, at two depths of calls. Prints the number of bytes of the stack that were used meanwhile.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

#define PATTERN 0xa5
#define OWN	512 /* used by this code */

static unsigned ms;
static unsigned char *stack;

__attribute__((noinline, noipa)) static void outer(void)
{
	burn_ms(ms / 2);
	burn_sink++;
}

static void *run(void *used)
{
	unsigned char *here = __builtin_frame_address(0);
	size_t n = 0;

	for (unsigned char *at = stack; at < here - OWN; at++)
		*(volatile unsigned char *)at = PATTERN;
	burn_ms(ms / 2);
	outer();
	while (stack[n] == PATTERN)
		n++;
	*(size_t *)used = (size_t)(here - stack) - n;
	return NULL;
}

int main(int argc, char **argv)
{
	size_t size_bytes = PTHREAD_STACK_MIN, page = (size_t)getpagesize(), used;
	pthread_attr_t attributes;
	pthread_t thread;

	stack = mmap(NULL, size_bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	ms = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
	mprotect(stack, page, PROT_NONE);
	stack += page;
	pthread_attr_init(&attributes);
	if (pthread_attr_setstack(&attributes, stack, size_bytes) != 0 ||
	    pthread_create(&thread, &attributes, run, &used) != 0)
		return 2;
	pthread_join(thread, NULL);
	printf("%zu\n", used);
	return 0;
}
