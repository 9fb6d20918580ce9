/* SPDX-License-Identifier: MIT */
/*
 * The first thread that calls a profiled function, and so opens the profile, has a stack of
 * PTHREAD_STACK_MIN bytes; so has a thread whose table grows, and a coroutine that calls execve()
 * while gmon files of ended threads are pending.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

__attribute__((noinline, noipa)) static void target(void)
{
	__asm__ volatile("");
}

#define SITE	  target();
#define SITES_4	  SITE SITE SITE SITE
#define SITES_16  SITES_4 SITES_4 SITES_4 SITES_4
#define SITES_64  SITES_16 SITES_16 SITES_16 SITES_16
#define SITES_256 SITES_64 SITES_64 SITES_64 SITES_64

UNPROFILED static void *one(void *unused)
{
	target();
	return unused;
}

UNPROFILED static void *many(void *unused)
{
	SITES_256 SITES_256 SITES_256 return unused;
}

/* Runs `start` on a stack filled with a pattern; returns the number of untouched bytes. */
UNPROFILED static size_t run(void *(*start)(void *))
{
	size_t size_bytes = PTHREAD_STACK_MIN, page = (size_t)getpagesize(), left = 0;
	pthread_attr_t attributes;
	pthread_t thread;
	unsigned char *stack;

	/* A guard page below it. */
	stack = mmap(NULL, size_bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	mprotect(stack, page, PROT_NONE);
	stack += page;
	memset(stack, 0xa5, size_bytes);
	pthread_attr_init(&attributes);
	if (pthread_attr_setstack(&attributes, stack, size_bytes) != 0 ||
	    pthread_create(&thread, &attributes, start, NULL) != 0)
		exit(2);
	pthread_join(thread, NULL);
	while (left < size_bytes && stack[left] == 0xa5)
		left++;
	return left;
}

UNPROFILED static void *none(void *unused)
{
	return unused;
}

UNPROFILED static void execute(void)
{
	char *argv[] = {"none", NULL};

	execve("/none/such", argv, argv);
}

/* Stack bytes that execve() uses in a single-threaded process. */
UNPROFILED static size_t run_coroutine(void)
{
	static unsigned char stack[16384] __attribute__((aligned(64)));
	static ucontext_t self, other;
	size_t left = 0;

	memset(stack, 0xa5, sizeof(stack));
	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof(stack);
	other.uc_link = &self;
	makecontext(&other, execute, 0);
	swapcontext(&self, &other);
	while (left < sizeof(stack) && stack[left] == 0xa5)
		left++;
	return sizeof(stack) - left;
}

UNPROFILED int main(void)
{
	size_t left_none = run(none), left_one = run(one), left_many = run(many);
	size_t used = left_none - (left_one < left_many ? left_one : left_many);
	size_t used_exec = run_coroutine();

	printf("stack used: %zu bytes by a first call, %zu by growth, %zu by execve()\n",
	       left_none - left_one, left_none - left_many, used_exec);
	return left_one > 0 && left_many > 0 && used <= 3072 && used_exec <= 2048 ? 0 : 1;
}
