/* SPDX-License-Identifier: MIT */
/*
 * Two threads take turns, so that the critical path is known: first() of one, then second() of the
 * other and the third() that it calls, and so on. A third thread is always busy and has no effect
 * on the path. Prints each call at the end: "call TID FUNCTION BEGIN_NS END_NS".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "../../../unit/sleeper.h"

#define ROUNDS	  4
#define MS	  1000000
#define NOINLINE  __attribute__((noinline, noipa))
#define NO_RECORD __attribute__((no_instrument_function))

struct call {
	pid_t tid;
	const char *function;
	int64_t begin_ns, end_ns;
};

static struct call calls[4 * ROUNDS];
static int n_calls; /* only the thread whose turn it is changes it */
static sem_t to_worker, to_main;
static _Atomic pid_t waiting; /* the thread that is about to wait */
static _Atomic unsigned long busy;

static inline NO_RECORD __attribute__((always_inline)) int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static inline NO_RECORD __attribute__((always_inline)) struct call *begin(const char *function)
{
	struct call *call = &calls[n_calls++];

	*call = (struct call){gettid(), function, now_ns(), 0};
	return call;
}

static inline NO_RECORD __attribute__((always_inline)) void burn(int64_t ns)
{
	int64_t end_ns = now_ns() + ns;

	while (now_ns() < end_ns)
		;
}

NOINLINE static void wait_for(sem_t *sem)
{
	waiting = gettid();
	sem_wait(sem);
}

NOINLINE static void hand_over(sem_t *sem)
{
	pid_t other;

	do {
		sched_yield();
		other = waiting;
	} while (!other || sleeper_state(other) != 'S');
	waiting = 0;
	sem_post(sem);
}

NOINLINE static void first(void)
{
	struct call *call = begin("first");

	burn(15 * MS);
	call->end_ns = now_ns();
}

NOINLINE static void third(void)
{
	struct call *call = begin("third");

	burn(12 * MS);
	call->end_ns = now_ns();
}

NOINLINE static void second(void)
{
	struct call *call = begin("second");

	burn(8 * MS);
	third();
	call->end_ns = now_ns();
}

NOINLINE static void *work(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		wait_for(&to_worker);
		second();
		hand_over(&to_main);
	}
	return arg;
}

NOINLINE static void idle(void)
{
	for (;;)
		atomic_fetch_add(&busy, 1);
}

NOINLINE static void *distract(void *arg)
{
	idle();
	return arg;
}

int main(void)
{
	pthread_t worker, other;

	sem_init(&to_worker, 0, 0);
	sem_init(&to_main, 0, 0);
	if (pthread_create(&worker, NULL, work, NULL) ||
	    pthread_create(&other, NULL, distract, NULL))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		first();
		hand_over(&to_worker);
		wait_for(&to_main);
	}
	pthread_join(worker, NULL);
	for (int i = 0; i < n_calls; i++)
		printf("call %d %s %lld %lld\n", calls[i].tid, calls[i].function,
		       (long long)calls[i].begin_ns, (long long)calls[i].end_ns);
	return 0;
}
