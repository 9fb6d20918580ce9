/* SPDX-License-Identifier: MIT */
/*
 * Waits, and releases that end them, along known call paths: one() and other() both lead to the
 * same call site. With "stacks", the waiting thread runs on a stack that is unmapped right after;
 * with "barrier", main() is the last to arrive at a barrier of two threads, and at one of its own.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "wait_blocked.h"

#define APART	    __attribute__((noinline, noclone))
#define STACK_BYTES (64 * 1024)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static atomic_int tid, step, calls;

/* calls++ after each call prevents tail calls. */
APART static void take(void)
{
	pthread_mutex_lock(&mutex);
	calls++;
}

APART static void one(void)
{
	take();
	calls++;
}

APART static void other(void)
{
	take();
	calls++;
}

APART static void release(void)
{
	pthread_mutex_unlock(&mutex);
	calls++;
}

APART static void give(void)
{
	sem_post(&sem);
	calls++;
}

APART static void receive(void)
{
	while (sem_wait(&sem) != 0)
		;
	calls++;
}

APART static void await(void)
{
	pthread_cond_wait(&cond, &mutex);
	calls++;
}

APART static void announce(void)
{
	pthread_cond_signal(&cond);
	calls++;
}

static void next(int n)
{
	while (step < n)
		;
}

static void *waits(void *arg)
{
	tid = gettid();
	next(1);
	one();
	release();
	next(2);
	other();
	release();
	next(3);
	receive();
	pthread_mutex_lock(&mutex);
	await();
	pthread_mutex_unlock(&mutex);
	return arg;
}

static ucontext_t back, there;

static void on_another_stack(void)
{
	for (int i = 0; i < 2; i++) {
		one();
		release();
		step++;
		next(2 * (i + 1));
	}
}

static void *switches(void *arg)
{
	tid = gettid();
	for (int i = 0; i < 20; i++) {
		void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		assert(stack != MAP_FAILED);
		next(1);
		getcontext(&there);
		there.uc_stack.ss_sp = stack;
		there.uc_stack.ss_size = STACK_BYTES;
		there.uc_link = &back;
		makecontext(&there, on_another_stack, 0);
		swapcontext(&back, &there);
		munmap(stack, STACK_BYTES);
		step = 100;
		while (step == 100)
			;
	}
	return arg;
}

static void stacks(void)
{
	pthread_t thread;

	assert(pthread_create(&thread, NULL, switches, NULL) == 0);
	while (tid == 0)
		;
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&mutex);
		step = 1;
		until_asleep(tid);
		release();
		while (step < 2)
			;
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		while (step != 3)
			;
		step = 4;
		while (step != 100)
			;
		step = 0;
	}
	pthread_join(thread, NULL);
}

static pthread_barrier_t barrier, alone;

APART static void arrive(pthread_barrier_t *at)
{
	pthread_barrier_wait(at);
	calls++;
}

APART static void arrive_last(void)
{
	arrive(&barrier);
	calls++;
}

static void *arrives_first(void *arg)
{
	tid = gettid();
	arrive(&barrier);
	return arg;
}

static void meet(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_barrier_init(&alone, NULL, 1);
	assert(pthread_create(&thread, NULL, arrives_first, NULL) == 0);
	while (tid == 0)
		;
	until_asleep(tid);
	arrive_last();
	pthread_join(thread, NULL);
	arrive(&alone);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	sem_init(&sem, 0, 0);
	if (argc > 1 && strcmp(argv[1], "barrier") == 0) {
		meet();
		return 9;
	}
	if (argc > 1) {
		stacks();
		return 9;
	}
	for (int i = 1; i < 3; i++) {
		pthread_mutex_lock(&mutex);
		if (i == 1)
			assert(pthread_create(&thread, NULL, waits, NULL) == 0);
		while (tid == 0)
			;
		step = i;
		until_asleep(tid);
		release();
		while (calls < 4 * i)
			;
	}
	step = 3;
	until_asleep(tid);
	give();
	while (calls < 10)
		;
	until_asleep(tid);
	pthread_mutex_lock(&mutex);
	announce();
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	return 9;
}
