/* SPDX-License-Identifier: MIT */
/*
 * reasons: one thread leaves its CPU for known reasons, one after the other, which other threads
 * cause. Prints the thread's id and main's: "thread TID", "main TID".
 *
 * The cause of the end of a wait always acts after the thread sleeps, according to /proc.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../../unit/sleeper.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t book = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t gate;
static sem_t tokens;
static int fds[2], poll_fds[2];
static int is_turn;
static int tid;
static _Atomic int step, spins;
static _Atomic long turns;
static pthread_t helper;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Waits until it sleeps in step `n`, which another thread then ends. */
static void await_sleep(int n)
{
	while (step != n || !sleeper_await(&tid))
		usleep(1000);
}

static void *help(void *arg)
{
	pthread_setname_np(pthread_self(), "helper");
	await_sleep(7);
	return arg;
}

static void *spin(void *arg)
{
	while (spins)
		turns++;
	return arg;
}

static void sleep_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

/* The child continues when this thread sleeps. */
static void wait_for_child(void)
{
	int parent = gettid();
	pid_t child = fork();

	if (child == 0)
		_exit(sleeper_await(&parent) ? 0 : 1);
	if (waitpid(child, NULL, 0) != child)
		fail("waitpid");
}

/* One CPU for this thread and the spinner: each preempts the other. */
static void share_cpu(void)
{
	pthread_attr_t attr;
	cpu_set_t one;
	pthread_t spinner;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		fail("sched_setaffinity");
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
	spins = 1;
	pthread_create(&spinner, &attr, spin, NULL);
	for (int i = 0; i < 3; i++)
		for (long before = turns; before == turns;)
			;
	spins = 0;
	pthread_join(spinner, NULL);
}

static void *act(void *arg)
{
	struct pollfd ready = {.fd = poll_fds[0], .events = POLLIN};
	char byte;

	pthread_setname_np(pthread_self(), "actor");
	__atomic_store_n(&tid, gettid(), __ATOMIC_RELEASE); /* for await_sleep() */
	step = 1;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	step = 2;
	sem_wait(&tokens);
	step = 3;
	pthread_mutex_lock(&guard);
	while (!is_turn)
		pthread_cond_wait(&turn, &guard);
	pthread_mutex_unlock(&guard);
	step = 4;
	pthread_rwlock_rdlock(&book);
	pthread_rwlock_unlock(&book);
	step = 5;
	pthread_barrier_wait(&gate);
	step = 6;
	if (read(fds[0], &byte, 1) != 1)
		fail("read");
	step = 7;
	pthread_join(helper, NULL);
	step = 8;
	if (poll(&ready, 1, -1) != 1)
		fail("poll");
	step = 9;
	for (int i = 0; i < 5; i++)
		sleep_ms(2);
	wait_for_child();
	share_cpu();
	return arg;
}

int main(void)
{
	pthread_t actor;

	if (pipe(fds) || pipe(poll_fds))
		fail("pipe");
	sem_init(&tokens, 0, 0);
	pthread_barrier_init(&gate, NULL, 2);
	pthread_mutex_lock(&lock);
	pthread_rwlock_wrlock(&book);
	pthread_create(&actor, NULL, act, NULL);
	pthread_create(&helper, NULL, help, NULL);
	await_sleep(1);
	pthread_mutex_unlock(&lock);
	await_sleep(2);
	sem_post(&tokens);
	await_sleep(3);
	pthread_mutex_lock(&guard);
	is_turn = 1;
	pthread_cond_signal(&turn);
	pthread_mutex_unlock(&guard);
	await_sleep(4);
	pthread_rwlock_unlock(&book);
	await_sleep(5);
	pthread_barrier_wait(&gate);
	await_sleep(6);
	if (write(fds[1], "", 1) != 1)
		fail("write");
	await_sleep(8);
	if (write(poll_fds[1], "", 1) != 1)
		fail("write");
	pthread_join(actor, NULL);
	printf("thread %d read %d main %d\n", tid, fds[0], getpid());
	return 0;
}
