/* SPDX-License-Identifier: MIT */
/*
 * spinning N: two threads take a mutex, a spin lock and a read-write lock N times each by calling
 * the try function until it succeeds; a third mutex is only tried.  Prints, for each object, its
 * name and how many tries failed.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

pthread_mutex_t spun_mutex = PTHREAD_MUTEX_INITIALIZER, tried_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t spun_rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t spun_lock;

static atomic_long n_mutex, n_rwlock, n_lock, n_tried;
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

static void *spin(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < n; i++) {
		take_mutex();
		take_lock();
		take_rwlock();
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
	pthread_barrier_destroy(&barrier);
	pthread_barrier_init(&barrier, NULL, 1);
	spin(NULL);
	pthread_join(thread, NULL);
	printf("spun_mutex %ld\nspun_lock %ld\nspun_rwlock %ld\ntried_mutex %ld\n", n_mutex, n_lock,
	       n_rwlock, n_tried);
	return 0;
}
