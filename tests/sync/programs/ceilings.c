/* SPDX-License-Identifier: MIT */
/*
 * Sets the ceiling of a mutex: free, taken, twice taken by its owner, of another kind; and makes a
 * robust mutex consistent.  Prints "MAIN_TID WAITER_TID CEILING_MUTEX RECURSIVE_MUTEX
 * ROBUST_MUTEX".
 *
 * Only real-time threads may lock a mutex with a ceiling, which not every user may make. So the
 * fields in which glibc stores the owner are set here.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wait_blocked.h"

static pthread_mutex_t mutex, recursive, robust, plain = PTHREAD_MUTEX_INITIALIZER;
static volatile int waiter_tid;

static void make(pthread_mutex_t *made, int type, int protocol, int robustness)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutexattr_setprotocol(&attributes, protocol);
	pthread_mutexattr_setrobust(&attributes, robustness);
	assert(pthread_mutex_init(made, &attributes) == 0);
}

static void own(pthread_mutex_t *taken)
{
	__atomic_fetch_or(&taken->__data.__lock, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&taken->__data.__owner, gettid(), __ATOMIC_SEQ_CST);
}

static void disown(pthread_mutex_t *taken)
{
	__atomic_store_n(&taken->__data.__owner, 0, __ATOMIC_SEQ_CST);
	__atomic_fetch_and(&taken->__data.__lock, ~0x7ffff, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &taken->__data.__lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *set_taken(void *arg)
{
	int old;

	waiter_tid = gettid();
	assert(pthread_mutex_setprioceiling(&mutex, 8, &old) == 0 && old == 7);
	return arg;
}

static void *die_owning(void *arg)
{
	pthread_mutex_lock(&robust);
	return arg;
}

int main(void)
{
	pthread_t thread;
	int old;

	make(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_PROTECT, 0);
	make(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_PROTECT, 0);
	make(&robust, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
	assert(pthread_mutex_setprioceiling(&mutex, 7, &old) == 0);
	assert(pthread_mutex_setprioceiling(&mutex, 1000, &old) == EINVAL);
	assert(pthread_mutex_setprioceiling(&plain, 7, &old) == EINVAL);

	own(&mutex);
	pthread_create(&thread, NULL, set_taken, NULL);
	while (waiter_tid == 0)
		sched_yield();
	until_asleep(waiter_tid);
	disown(&mutex);
	pthread_join(thread, NULL);
	assert(pthread_mutex_getprioceiling(&mutex, &old) == 0 && old == 8);

	own(&recursive);
	pthread_mutex_setprioceiling(&recursive, 9, &old); /* permitted to real-time threads */
	disown(&recursive);

	pthread_create(&thread, NULL, die_owning, NULL);
	pthread_join(thread, NULL);
	assert(pthread_mutex_consistent(&robust) == EINVAL);
	assert(pthread_mutex_lock(&robust) == EOWNERDEAD);
	assert(pthread_mutex_consistent(&robust) == 0);
	pthread_mutex_unlock(&robust);
	pthread_create(&thread, NULL, die_owning, NULL);
	pthread_join(thread, NULL);
	assert(pthread_mutex_trylock(&robust) == EOWNERDEAD);
	pthread_mutex_unlock(&robust);
	printf("%d %d %lu %lu %lu\n", gettid(), waiter_tid, (unsigned long)&mutex,
	       (unsigned long)&recursive, (unsigned long)&robust);
	return 0;
}
