/* SPDX-License-Identifier: MIT */
/*
 * aliases [interposed]: uses mutexes, read-write locks, once and raise by the second names that
 * glibc keeps for old programs. Linkers no longer bind to these, so .symver names them. With
 * "interposed" it locks by the first names, which interposed_alias.c interposes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#define OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
OLD(__pthread_mutex_init);
OLD(__pthread_mutex_destroy);
OLD(__pthread_mutex_lock);
OLD(__pthread_mutex_trylock);
OLD(__pthread_mutex_unlock);
OLD(__pthread_rwlock_init);
OLD(__pthread_rwlock_destroy);
OLD(__pthread_rwlock_rdlock);
OLD(__pthread_rwlock_tryrdlock);
OLD(__pthread_rwlock_wrlock);
OLD(__pthread_rwlock_trywrlock);
OLD(__pthread_rwlock_unlock);
OLD(__pthread_once);

extern __typeof__(pthread_mutex_init) __pthread_mutex_init;
extern __typeof__(pthread_mutex_destroy) __pthread_mutex_destroy;
extern __typeof__(pthread_mutex_lock) __pthread_mutex_lock;
extern __typeof__(pthread_mutex_trylock) __pthread_mutex_trylock;
extern __typeof__(pthread_mutex_unlock) __pthread_mutex_unlock;
extern __typeof__(pthread_rwlock_init) __pthread_rwlock_init;
extern __typeof__(pthread_rwlock_destroy) __pthread_rwlock_destroy;
extern __typeof__(pthread_rwlock_rdlock) __pthread_rwlock_rdlock;
extern __typeof__(pthread_rwlock_tryrdlock) __pthread_rwlock_tryrdlock;
extern __typeof__(pthread_rwlock_wrlock) __pthread_rwlock_wrlock;
extern __typeof__(pthread_rwlock_trywrlock) __pthread_rwlock_trywrlock;
extern __typeof__(pthread_rwlock_unlock) __pthread_rwlock_unlock;
extern __typeof__(pthread_once) __pthread_once;

static pthread_mutex_t mutex, mixed = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static volatile int n_once, n_signals;

static void routine(void)
{
	n_once++;
}

static void handler(int number)
{
	(void)number;
	n_signals++;
}

static void use_all(void)
{
	printf("%d", __pthread_mutex_init(&mutex, NULL));
	printf(" %d", __pthread_mutex_lock(&mutex));
	printf(" %d", __pthread_mutex_trylock(&mutex));
	printf(" %d", __pthread_mutex_unlock(&mutex));
	printf(" %d\n", __pthread_mutex_destroy(&mutex));
	printf("%d", __pthread_rwlock_init(&rwlock, NULL));
	printf(" %d", __pthread_rwlock_rdlock(&rwlock));
	printf(" %d", __pthread_rwlock_tryrdlock(&rwlock));
	printf(" %d", __pthread_rwlock_unlock(&rwlock));
	printf(" %d", __pthread_rwlock_unlock(&rwlock));
	printf(" %d", __pthread_rwlock_wrlock(&rwlock));
	printf(" %d", __pthread_rwlock_trywrlock(&rwlock));
	printf(" %d", __pthread_rwlock_unlock(&rwlock));
	printf(" %d\n", __pthread_rwlock_destroy(&rwlock));
	printf("%d", __pthread_once(&once, routine));
	printf(" %d %d\n", gsignal(SIGUSR1), n_signals);
}

int main(int argc, char **argv)
{
	(void)argv;
	signal(SIGUSR1, handler);
	if (argc == 1)
		use_all();
	/* A hold that begins by one name and ends by the other. */
	for (int i = 0; i < 100; i++) {
		if (argc == 1 && i % 2 == 0)
			__pthread_mutex_lock(&mixed);
		else
			pthread_mutex_lock(&mixed);
		pthread_mutex_unlock(&mixed);
	}
	printf("%d\n", n_once);
	return 0;
}
