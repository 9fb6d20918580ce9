/* SPDX-License-Identifier: MIT */
/*
 * openmp N: four threads enter a named and the unnamed critical section, take a lock and a nestable
 * lock N times each, and wait at N barriers.  The named section is held longest; before, a thread
 * waits for it once.
 * Prints the sums, which locks that do not exclude each other would make wrong.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cpu_time.h"

#define THREADS 4

static omp_lock_t lock;
static omp_nest_lock_t nest_lock;
static long n_busy, n_unnamed, n_lock, n_nest, n_failed;

static void work(long ns)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now;
	while ((end.tv_sec - now.tv_sec) * 1000000000 + end.tv_nsec - now.tv_nsec < ns)
		clock_gettime(CLOCK_MONOTONIC, &end);
}

static void enter_busy(void)
{
#pragma omp critical(busy)
	{
		n_busy++;
		work(50000);
	}
}

/* gcc's name of the section: libgomp's lock word, -1 if a thread sleeps. */
extern int busy_word __asm__(".gomp_critical_user_busy");

static bool is_held, is_waiting;
static pthread_t waiter;

/* Until the other thread waits: it sleeps, or it has used CPU time since it was about to enter. */
static void hold_busy(void)
{
#pragma omp critical(busy)
	{
		long begin_ns;

		n_busy++;
		__atomic_store_n(&is_held, true, __ATOMIC_RELEASE);
		while (!__atomic_load_n(&is_waiting, __ATOMIC_ACQUIRE))
			sched_yield();
		begin_ns = cpu_time_ns(waiter);
		while (__atomic_load_n(&busy_word, __ATOMIC_RELAXED) != -1 &&
		       cpu_time_ns(waiter) < begin_ns + 1000000)
			sched_yield();
	}
}

static void wait_for_busy(void)
{
	while (!__atomic_load_n(&is_held, __ATOMIC_ACQUIRE))
		sched_yield();
	waiter = pthread_self();
	__atomic_store_n(&is_waiting, true, __ATOMIC_RELEASE);
	enter_busy();
}

static void enter_unnamed(void)
{
#pragma omp critical
	n_unnamed++;
}

static void take_lock(void)
{
	omp_set_lock(&lock);
	n_lock++;
	omp_unset_lock(&lock);
}

static void take_nest(void)
{
	omp_set_nest_lock(&nest_lock);
	omp_set_nest_lock(&nest_lock);
	n_nest++;
	omp_unset_nest_lock(&nest_lock);
	omp_unset_nest_lock(&nest_lock);
}

static void try_lock(void)
{
	while (!omp_test_lock(&lock)) {
#pragma omp atomic
		n_failed++;
	}
	n_lock++;
	omp_unset_lock(&lock);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nest_lock);
#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num() == 0)
			hold_busy();
		else
			wait_for_busy();
	}
#pragma omp parallel num_threads(THREADS)
	for (int i = 0; i < n; i++) {
		enter_busy();
		enter_unnamed();
		take_lock();
		take_nest();
		try_lock();
#pragma omp barrier
	}
	omp_destroy_lock(&lock);
	omp_destroy_nest_lock(&nest_lock);
	printf("busy %ld unnamed %ld lock %ld nest %ld\n", n_busy, n_unnamed, n_lock, n_nest);
	fprintf(stderr, "failed %ld\n", n_failed);
	return 0;
}
