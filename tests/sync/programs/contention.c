/* SPDX-License-Identifier: MIT */
/*
 * One thread holds an object while another waits for it. Prints "NAME OBJECT HOLDER WAITER" for
 * each kind. With an argument the last wait never ends: prints "blocked" and keeps waiting.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "wait_blocked.h"

static pthread_mutex_t mutex;
static atomic_int waiter;
static int timed;

static void *wait_for_it(void *arg)
{
	struct timespec late = {time(NULL) + 1000, 0};

	atomic_store(&waiter, gettid());
	if (timed)
		pthread_mutex_timedlock(&mutex, &late);
	else
		pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void contend(const char *name, int type, int robust, int protocol, int is_timed)
{
	pthread_mutexattr_t attributes;
	pthread_t thread;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutexattr_setrobust(&attributes, robust);
	pthread_mutexattr_setprotocol(&attributes, protocol);
	pthread_mutex_init(&mutex, &attributes);
	timed = is_timed;
	pthread_mutex_lock(&mutex);
	atomic_store(&waiter, 0);
	pthread_create(&thread, NULL, wait_for_it, NULL);
	while (atomic_load(&waiter) == 0)
		;
	until_asleep(atomic_load(&waiter));
	printf("%s %p %d %d\n", name, (void *)&mutex, gettid(), atomic_load(&waiter));
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	pthread_mutex_destroy(&mutex);
}

static void *stay(void *arg)
{
	atomic_store(&waiter, gettid());
	until_asleep(getpid()); /* in its join */
	return arg;
}

static void *block(void *arg)
{
	atomic_store(&waiter, gettid());
	pthread_mutex_lock(&mutex);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argv;
	contend("normal", PTHREAD_MUTEX_NORMAL, 0, 0, 0);
	contend("recursive", PTHREAD_MUTEX_RECURSIVE, 0, 0, 0);
	contend("errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0);
	contend("adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0, 0);
	contend("robust", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, 0, 0);
	contend("inherit", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT, 0);
	contend("timed", PTHREAD_MUTEX_NORMAL, 0, 0, 1);
	atomic_store(&waiter, 0);
	pthread_create(&thread, NULL, stay, NULL);
	while (atomic_load(&waiter) == 0)
		;
	printf("join %#lx %d %d\n", (unsigned long)thread, atomic_load(&waiter), gettid());
	pthread_join(thread, NULL);
	if (argc == 1)
		return 0;

	pthread_mutex_init(&mutex, NULL);
	pthread_mutex_lock(&mutex);
	atomic_store(&waiter, 0);
	pthread_create(&thread, NULL, block, NULL);
	while (atomic_load(&waiter) == 0)
		;
	until_asleep(atomic_load(&waiter));
	printf("blocked %p %d %d\n", (void *)&mutex, gettid(), atomic_load(&waiter));
	fflush(stdout);
	pause();
	return 1;
}
