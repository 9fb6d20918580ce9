/* SPDX-License-Identifier: MIT */
/*
 * spinning N: two threads take a mutex, a spin lock, a read-write lock and a semaphore N times each
 * by calling the try function until it succeeds; a second mutex is only tried.  Before, a thread
 * waits once for an adaptive mutex and once for a spin lock, which spin inside of the call. Prints,
 * for each of the others, its name and how many tries failed.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu_time.h"

pthread_mutex_t spun_mutex = PTHREAD_MUTEX_INITIALIZER, tried_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t spun_rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_mutex_t adaptive_mutex = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
pthread_spinlock_t spun_lock, waited_lock;
sem_t spun_sem;

static atomic_long n_mutex, n_rwlock, n_lock, n_sem, n_tried;
static pthread_barrier_t barrier;
static int n;

static void take_mutex(void)
{
	while (pthread_mutex_trylock(&spun_mutex))
		n_mutex++;
	sched_yield();
	pthread_mutex_unlock(&spun_mutex);
}

static void take_lock(void)
{
	while (pthread_spin_trylock(&spun_lock))
		n_lock++;
	sched_yield();
	pthread_spin_unlock(&spun_lock);
}

static void take_rwlock(void)
{
	while (pthread_rwlock_trywrlock(&spun_rwlock))
		n_rwlock++;
	sched_yield();
	pthread_rwlock_unlock(&spun_rwlock);
}

static void take_sem(void)
{
	while (sem_trywait(&spun_sem))
		n_sem++;
	sched_yield();
	sem_post(&spun_sem);
}

static void *wait_inside(void *arg)
{
	pthread_mutex_lock(&adaptive_mutex);
	pthread_mutex_unlock(&adaptive_mutex);
	atomic_store((atomic_bool *)arg, true);
	pthread_spin_lock(&waited_lock);
	pthread_spin_unlock(&waited_lock);
	return NULL;
}

static void make_wait(void)
{
	atomic_bool is_at_lock = false;
	pthread_t thread;
	long begin_ns;

	pthread_mutex_lock(&adaptive_mutex);
	pthread_spin_lock(&waited_lock);
	if (pthread_create(&thread, NULL, wait_inside, &is_at_lock))
		abort();
	while (__atomic_load_n(&adaptive_mutex.__data.__lock, __ATOMIC_RELAXED) != 2)
		sched_yield(); /* it does not sleep yet */
	pthread_mutex_unlock(&adaptive_mutex);
	while (!is_at_lock)
		sched_yield();
	begin_ns = cpu_time_ns(thread);
	while (cpu_time_ns(thread) < begin_ns + 1000000)
		sched_yield(); /* it may not have tried yet */
	pthread_spin_unlock(&waited_lock);
	pthread_join(thread, NULL);
}

static void *spin(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < n; i++) {
		take_mutex();
		take_lock();
		take_rwlock();
		take_sem();
		/* Another operation follows each try, so that no run of them ends in success. */
		if (pthread_mutex_trylock(&tried_mutex))
			n_tried++;
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	n = argc > 1 ? atoi(argv[1]) : 100;
	pthread_spin_init(&spun_lock, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_init(&waited_lock, PTHREAD_PROCESS_PRIVATE);
	make_wait();
	sem_init(&spun_sem, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_mutex_lock(&tried_mutex);
	/* One failed try at least of each: another thread holds them. */
	pthread_mutex_lock(&spun_mutex);
	pthread_spin_lock(&spun_lock);
	pthread_rwlock_wrlock(&spun_rwlock);
	if (pthread_create(&thread, NULL, spin, NULL))
		return 1;
	pthread_barrier_wait(&barrier);
	while (!n_mutex)
		sched_yield();
	pthread_mutex_unlock(&spun_mutex);
	while (!n_lock)
		sched_yield();
	pthread_spin_unlock(&spun_lock);
	while (!n_rwlock)
		sched_yield();
	pthread_rwlock_unlock(&spun_rwlock);
	while (!n_sem)
		sched_yield();
	sem_post(&spun_sem);
	pthread_barrier_destroy(&barrier);
	pthread_barrier_init(&barrier, NULL, 1);
	spin(NULL);
	pthread_join(thread, NULL);
	printf("spun_mutex %ld\nspun_lock %ld\nspun_rwlock %ld\nspun_sem %ld\ntried_mutex %ld\n",
	       n_mutex, n_lock, n_rwlock, n_sem, n_tried);
	return 0;
}
