/* SPDX-License-Identifier: MIT */
/*
 * Acquisitions that do not wait: TIMES of each kind, and with a number N, N rounds in which one
 * function takes a mutex nine times and another one takes it once.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))
#define TIMES 7

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, robust;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem;
static volatile int calls;

/* A function that acquires and releases; calls++ prevents tail calls. */
#define TAKES(name, acquire, release)                                                              \
	APART static void name(void)                                                               \
	{                                                                                          \
		int result = acquire;                                                              \
                                                                                                   \
		assert(result == 0);                                                               \
		release;                                                                           \
		calls++;                                                                           \
	}

static const struct timespec never = {.tv_sec = 1L << 40};

TAKES(lock, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
TAKES(trylock, pthread_mutex_trylock(&mutex), pthread_mutex_unlock(&mutex))
TAKES(timedlock, pthread_mutex_timedlock(&mutex, &never), pthread_mutex_unlock(&mutex))
TAKES(lock_robust, pthread_mutex_lock(&robust), pthread_mutex_unlock(&robust))
TAKES(rdlock, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock))
TAKES(wrlock, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
TAKES(tryrdlock, pthread_rwlock_tryrdlock(&rwlock), pthread_rwlock_unlock(&rwlock))
TAKES(trywrlock, pthread_rwlock_trywrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
TAKES(spin_lock, pthread_spin_lock(&spin), pthread_spin_unlock(&spin))
TAKES(spin_trylock, pthread_spin_trylock(&spin), pthread_spin_unlock(&spin))
TAKES(wait, sem_wait(&sem), sem_post(&sem))
TAKES(trywait, sem_trywait(&sem), sem_post(&sem))
TAKES(often, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
TAKES(seldom, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))

static void init(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attributes);
	pthread_spin_init(&spin, 0);
	sem_init(&sem, 0, 1);
}

int main(int argc, char **argv)
{
	static void (*const all[])(void) = {lock,      trylock,	     timedlock, lock_robust,
					    rdlock,    wrlock,	     tryrdlock, trywrlock,
					    spin_lock, spin_trylock, wait,	trywait};

	if (argc > 1) {
		for (int n = atoi(argv[1]); n > 0; n--) {
			for (int i = 0; i < 9; i++)
				often();
			seldom();
		}
		return 9;
	}
	init();
	for (int i = 0; i < TIMES; i++)
		for (unsigned kind = 0; kind < sizeof(all) / sizeof(all[0]); kind++)
			all[kind]();
	return 9;
}
