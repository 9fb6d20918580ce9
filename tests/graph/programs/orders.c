/* SPDX-License-Identifier: MIT */
/*
 * Acquires locks in known orders, one thread after the other, so that no deadlock happens although
 * all threads exist until the end; then two known waits: for a mutex that main holds, and for a
 * semaphore that main posts. The names of the variables tell the expected findings.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "sync/programs/wait_blocked.h"

#define LOCK PTHREAD_MUTEX_INITIALIZER

static pthread_mutex_t pair_a = LOCK, pair_b = LOCK;
static pthread_mutex_t ring_a = LOCK, ring_b = LOCK, ring_c = LOCK;
static pthread_mutex_t own_a = LOCK, own_b = LOCK;
static pthread_mutex_t gate = LOCK, gated_a = LOCK, gated_b = LOCK;
static pthread_mutex_t tried_a = LOCK, tried_b = LOCK;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, inner = LOCK;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t beside = LOCK;
static pthread_mutex_t known = LOCK;
static sem_t posted;
static int waiter;

/* Acquires both, the second while the first is held. */
static void take(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static void *forth(void *unused)
{
	take(&pair_a, &pair_b);
	take(&ring_a, &ring_b);
	pthread_mutex_lock(&gate);
	take(&gated_a, &gated_b);
	pthread_mutex_unlock(&gate);
	take(&tried_a, &tried_b);
	pthread_rwlock_rdlock(&shared);
	pthread_mutex_lock(&beside);
	pthread_mutex_unlock(&beside);
	pthread_rwlock_unlock(&shared);
	return unused;
}

static void *back(void *unused)
{
	take(&pair_b, &pair_a);
	take(&ring_b, &ring_c);
	pthread_mutex_lock(&gate);
	take(&gated_b, &gated_a);
	pthread_mutex_unlock(&gate);
	pthread_mutex_lock(&tried_b);
	assert(pthread_mutex_trylock(&tried_a) == 0);
	pthread_mutex_unlock(&tried_a);
	pthread_mutex_unlock(&tried_b);
	pthread_mutex_lock(&beside);
	pthread_rwlock_wrlock(&shared);
	pthread_rwlock_unlock(&shared);
	pthread_mutex_unlock(&beside);
	return unused;
}

static void *round_about(void *unused)
{
	take(&ring_c, &ring_a);
	take(&own_a, &own_b);
	take(&own_b, &own_a);
	pthread_mutex_lock(&recursive);
	take(&inner, &recursive);
	pthread_mutex_unlock(&recursive);
	return unused;
}

static void *wait_for_main(void *unused)
{
	__atomic_store_n(&waiter, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pthread_mutex_lock(&known);
	pthread_mutex_unlock(&known);
	while (sem_wait(&posted) != 0)
		;
	return unused;
}

/* glibc's mutex word: a thread sleeps on it, or is about to. */
static bool has_waiter(void)
{
	return __atomic_load_n(&known.__data.__lock, __ATOMIC_RELAXED) == 2;
}

static bool has_sleeper(void)
{
	return __atomic_load_n((uint64_t *)&posted, __ATOMIC_RELAXED) >> 32;
}

static void until(bool (*is_so)(void))
{
	while (!is_so())
		usleep(50);
}

static void *(*const routines[])(void *) = {forth, back, round_about};
#define N_ROUTINES (sizeof(routines) / sizeof(routines[0]))

static pthread_t threads[N_ROUTINES];
static size_t n_begun, n_done;
static bool over;

static bool is_done(void)
{
	return __atomic_load_n(&n_done, __ATOMIC_ACQUIRE) == n_begun;
}

static bool is_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_ACQUIRE);
}

static void *live(void *routine)
{
	(*(void *(*const *)(void *))routine)(NULL);
	__atomic_add_fetch(&n_done, 1, __ATOMIC_RELEASE);
	until(is_over);
	return NULL;
}

static void run(size_t which)
{
	n_begun++;
	assert(pthread_create(&threads[which], NULL, live, (void *)&routines[which]) == 0);
	until(is_done);
}

int main(void)
{
	pthread_t thread;

	for (size_t i = 0; i < N_ROUTINES; i++)
		run(i);
	sem_init(&posted, 0, 0);
	pthread_mutex_lock(&known);
	assert(pthread_create(&thread, NULL, wait_for_main, NULL) == 0);
	until(has_waiter);
	until_asleep(__atomic_load_n(&waiter, __ATOMIC_ACQUIRE));
	pthread_mutex_unlock(&known);
	until(has_sleeper);
	until_asleep(__atomic_load_n(&waiter, __ATOMIC_ACQUIRE));
	sem_post(&posted);
	assert(pthread_join(thread, NULL) == 0);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	for (size_t i = 0; i < N_ROUTINES; i++)
		assert(pthread_join(threads[i], NULL) == 0);
	return 0;
}
