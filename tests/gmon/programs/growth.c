/* SPDX-License-Identifier: MIT */
/*
 * growth N: a thread calls `worker` N times. A timer fires every 20 microseconds; its handler calls
 * `target` from 64 new call sites each time, up to 4096, so that the thread's table grows during
 * increments. Prints how often each function was called.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noipa))

static uint64_t n_target, n_worker, n_handler;
static unsigned next_group;

NOINLINE void target(void)
{
	n_target++;
}

#define SITE	 target();
#define SITES_4	 SITE SITE SITE SITE
#define SITES_16 SITES_4 SITES_4 SITES_4 SITES_4
#define SITES_64 SITES_16 SITES_16 SITES_16 SITES_16

NOINLINE void many(int group)
{
	switch (group) {
#define G(n)                                                                                       \
	case n:                                                                                    \
		SITES_64 break;
#define G8(n) G(n) G(n + 1) G(n + 2) G(n + 3) G(n + 4) G(n + 5) G(n + 6) G(n + 7)
		G8(0) G8(8) G8(16) G8(24) G8(32) G8(40) G8(48) G8(56) default : break;
	}
}

NOINLINE void handle(int number)
{
	n_handler++;
	/* 64 new arcs per call; after the last, the same arcs again. */
	many(next_group++ % 64);
}

NOINLINE void worker(void)
{
	n_worker++;
}

static void *run(void *arg)
{
	long n = *(long *)arg;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct itimerspec often = {{0, 20000}, {0, 20000}};
	timer_t timer;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &often, NULL);
	for (long i = 0; i < n; i++)
		worker();
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	timer_delete(timer);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handle};
	long n = argc > 1 ? atol(argv[1]) : 20000000;
	pthread_t thread;
	sigset_t set;

	/* Only the thread receives the signal. */
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGALRM, &action, NULL);
	pthread_create(&thread, NULL, run, &n);
	pthread_join(thread, NULL);
	printf("handle %lu\nmany %lu\n", n_handler, n_handler);
	printf("target %lu\nworker %lu\n", n_target, n_worker);
	return 0;
}
