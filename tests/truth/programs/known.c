/* SPDX-License-Identifier: MIT */
/*
 * Threads that measure themselves and print the result at their end, one line each:
 *
 *   thread TID NAME cpu_ns=N voluntary=N involuntary=N KEY=NANOSECONDS...
 *
 * cpu_ns is the thread's own CPU clock, the switches are the kernel's own counts.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../unit/sleeper.h"

#define SPIN_NS	 150000000
#define HOLD_NS	 60000000
#define SLEEP_NS 3000000
#define SLEEPS	 20
#define CHILD_NS 60000000
#define PIPE_NS	 60000000
#define TURNS	 500

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int waiter_tid;
static _Atomic int reader_tid;
static int pipe_fds[2];
static sem_t ping, pong;

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void sleep_ns(long ns)
{
	struct timespec time = {0, ns};

	nanosleep(&time, NULL);
}

static unsigned long status_of(const char *key)
{
	char path[64], line[256];
	unsigned long value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", gettid());
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, key, strlen(key)) == 0)
			value = strtoul(line + strlen(key), NULL, 10);
	if (file)
		fclose(file);
	return value;
}

static void say(const char *name, const char *key, int64_t value_ns)
{
	char line[256];
	unsigned long voluntary = status_of("voluntary_ctxt_switches:");
	unsigned long involuntary = status_of("nonvoluntary_ctxt_switches:");
	int len = snprintf(line, sizeof(line),
			   "thread %d %s cpu_ns=%lld voluntary=%lu involuntary=%lu %s=%lld\n",
			   gettid(), name, (long long)now_ns(CLOCK_THREAD_CPUTIME_ID), voluntary,
			   involuntary, key, (long long)value_ns);

	if (write(STDOUT_FILENO, line, (size_t)len) != len)
		exit(1);
}

static void *spin(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "spinner");
	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < SPIN_NS)
		for (volatile int work = 0; work < 10000; work++)
			;
	say("spinner", "spun", SPIN_NS);
	return NULL;
}

/* Finds the lock held by main, which keeps it until this thread sleeps, and then for HOLD_NS. */
static void *await(void *arg)
{
	int64_t start_ns;

	(void)arg;
	pthread_setname_np(pthread_self(), "waiter");
	waiter_tid = gettid();
	start_ns = now_ns(CLOCK_MONOTONIC);
	pthread_mutex_lock(&lock);
	start_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
	pthread_mutex_unlock(&lock);
	say("waiter", "waited", start_ns);
	return NULL;
}

static void *doze(void *arg)
{
	int64_t start_ns = now_ns(CLOCK_MONOTONIC);

	(void)arg;
	pthread_setname_np(pthread_self(), "sleeper");
	for (int i = 0; i < SLEEPS; i++)
		sleep_ns(SLEEP_NS);
	say("sleeper", "slept", now_ns(CLOCK_MONOTONIC) - start_ns);
	return NULL;
}

/* The parent of a vfork waits uninterruptibly for its child's exit. */
static void *fork_and_wait(void *arg)
{
	int64_t start_ns = now_ns(CLOCK_MONOTONIC);

	(void)arg;
	pthread_setname_np(pthread_self(), "parent");
	if (vfork() == 0) {
		sleep_ns(CHILD_NS);
		_exit(0);
	}
	say("parent", "forked", now_ns(CLOCK_MONOTONIC) - start_ns);
	return NULL;
}

/* Main writes when this thread sleeps, and PIPE_NS have passed. */
static void *read_pipe(void *arg)
{
	int64_t start_ns;
	char byte;

	(void)arg;
	pthread_setname_np(pthread_self(), "reader");
	reader_tid = gettid();
	start_ns = now_ns(CLOCK_MONOTONIC);
	if (read(pipe_fds[0], &byte, 1) != 1)
		exit(1);
	say("reader", "read", now_ns(CLOCK_MONOTONIC) - start_ns);
	return NULL;
}

static void *play(void *arg)
{
	sem_t *mine = arg ? &ping : &pong;
	sem_t *other = arg ? &pong : &ping;
	int64_t start_ns = now_ns(CLOCK_MONOTONIC);

	pthread_setname_np(pthread_self(), arg ? "pinger" : "ponger");
	for (int i = 0; i < TURNS; i++) {
		sem_wait(mine);
		sem_post(other);
	}
	say(arg ? "pinger" : "ponger", "played", now_ns(CLOCK_MONOTONIC) - start_ns);
	return NULL;
}

int main(void)
{
	pthread_t threads[7];
	int64_t start_ns;

	sem_init(&ping, 0, 1);
	sem_init(&pong, 0, 0);
	pthread_mutex_lock(&lock);
	start_ns = now_ns(CLOCK_MONOTONIC);
	pthread_create(&threads[0], NULL, await, NULL);
	while (!waiter_tid || sleeper_state(waiter_tid) != 'S')
		sched_yield();
	sleep_ns(HOLD_NS);
	start_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
	pthread_mutex_unlock(&lock);
	pthread_create(&threads[1], NULL, spin, NULL);
	pthread_create(&threads[2], NULL, doze, NULL);
	pthread_create(&threads[3], NULL, fork_and_wait, NULL);
	pthread_create(&threads[4], NULL, play, "");
	pthread_create(&threads[5], NULL, play, NULL);
	if (pipe(pipe_fds))
		return 1;
	pthread_create(&threads[6], NULL, read_pipe, NULL);
	while (!reader_tid || sleeper_state(reader_tid) != 'S')
		sched_yield();
	sleep_ns(PIPE_NS);
	if (write(pipe_fds[1], "", 1) != 1)
		return 1;
	for (int i = 0; i < 7; i++)
		pthread_join(threads[i], NULL);
	say("main", "held", start_ns);
	return 0;
}
