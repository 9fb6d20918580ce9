/* SPDX-License-Identifier: MIT */
/*
 * openmp_team ROUNDS: parallel regions of three threads with shares of different lengths, tasks in
 * taskwait, taskgroup and at a barrier, loops, a region within a region, and a cancelled one.
 * Prints what was computed; to stderr, for each thread of the team, its tid and its own account in
 * ns: the waits at the ends of regions, without a region, for tasks, and at barriers, the latter
 * two without the tasks that it ran meanwhile; and the time that it was runnable without a CPU.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../../unit/sleeper.h"
#include "cpu_time.h"

#define THREADS 3
#define MS	1000000

static struct account {
	long join_ns, idle_ns, tasks_ns, barrier_ns;
	long left_ns;	  /* when its last share ended */
	long in_tasks_ns; /* time in tasks */
	long n_tasks;
	long left_cpu_ns; /* its CPU time then */
	pthread_t thread;
	int tid;
} accounts[THREADS];
static int n_left; /* shares that have ended, in all rounds */

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct account *mine(void)
{
	return &accounts[omp_get_thread_num()];
}

static void work(long ns)
{
	long end = now() + ns;

	while (now() < end)
		;
}

static void come(void)
{
	struct account *my = mine();

	my->tid = gettid();
	my->thread = pthread_self();
	if (my->left_ns && my != accounts)
		my->idle_ns += now() - my->left_ns;
}

static void leave(void)
{
	mine()->left_ns = now();
	mine()->left_cpu_ns = cpu_time_ns(pthread_self());
	__atomic_fetch_add(&n_left, 1, __ATOMIC_RELEASE);
}

/* It sleeps, or has spun since it left. */
static bool is_waiting(const struct account *other)
{
	return cpu_time_ns(other->thread) > other->left_cpu_ns + MS ||
	       sleeper_state(other->tid) == 'S';
}

static void work_after_others(int round, long ns)
{
	while (__atomic_load_n(&n_left, __ATOMIC_ACQUIRE) < (round + 1) * THREADS - 1)
		sched_yield();
	for (int i = 0; i < THREADS; i++)
		while (&accounts[i] != mine() && !is_waiting(&accounts[i]))
			sched_yield();
	work(ns);
}

/* The time that the thread was runnable without a CPU. */
static long delay_ns(int tid)
{
	char path[64];
	long delay = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d %ld", &delay) != 1)
		delay = 0;
	if (file)
		fclose(file);
	return delay;
}

static void joined(void)
{
	accounts[0].join_ns += now() - accounts[0].left_ns;
}

/* In the last round, the thread that began the region is the last. */
static void shares(int rounds)
{
	for (int i = 0; i < rounds; i++) {
#pragma omp parallel num_threads(THREADS)
		{
			come();
			if (omp_get_thread_num() == (i < rounds - 1))
				work_after_others(i, 30 * MS);
			else
				work(MS);
			leave();
		}
		joined();
	}
}

static void task(void)
{
	long begin = now();

	work(4 * MS);
	mine()->in_tasks_ns += now() - begin;
	mine()->n_tasks++;
}

static void make_tasks(void)
{
	for (int i = 0; i < 4; i++) {
#pragma omp task
		task();
	}
#pragma omp task
	{
		task();
		task();
		task();
	}
}

/* The time since then, without tasks. */
static long waited(long since, long in_tasks_before)
{
	return now() - since - (mine()->in_tasks_ns - in_tasks_before);
}

static void wait_for_tasks(void)
{
	long begin, before;

	make_tasks();
	begin = now();
	before = mine()->in_tasks_ns;
#pragma omp taskwait
	mine()->tasks_ns += waited(begin, before);
#pragma omp taskgroup
	{
#pragma omp taskloop nogroup grainsize(1)
		for (int i = 0; i < 5; i++)
			task();
		begin = now();
		before = mine()->in_tasks_ns;
	}
	mine()->tasks_ns += waited(begin, before);
	make_tasks();
}

/* One thread makes tasks, which the others run at the barrier. */
static void tasks(void)
{
#pragma omp parallel num_threads(THREADS)
	{
		long begin, before;

		come();
#pragma omp master
		wait_for_tasks();
		begin = now();
		before = mine()->in_tasks_ns;
#pragma omp barrier
		mine()->barrier_ns += waited(begin, before);
		leave();
	}
	joined();
}

static long loops(void)
{
	long sum = 0;

#pragma omp parallel for num_threads(THREADS) schedule(dynamic, 3) reduction(+ : sum)
	for (int i = 0; i < 100; i++)
		sum += i;
#pragma omp parallel for num_threads(THREADS) schedule(guided) reduction(+ : sum)
	for (int i = 0; i < 100; i++)
		sum += i;
#pragma omp parallel for num_threads(THREADS) schedule(runtime) reduction(+ : sum)
	for (int i = 0; i < 100; i++)
		sum += i;
#pragma omp parallel for num_threads(THREADS) schedule(monotonic : dynamic) reduction(+ : sum)
	for (int i = 0; i < 100; i++)
		sum += i;
#pragma omp parallel sections num_threads(THREADS) reduction(+ : sum)
	{
		sum++;
#pragma omp section
		sum++;
	}
#pragma omp parallel for num_threads(THREADS) reduction(task, + : sum)
	for (int i = 0; i < 100; i++)
		sum += i;
#pragma omp parallel for num_threads(1) reduction(+ : sum)
	for (int i = 0; i < 100; i++)
		sum += i;
	return sum;
}

static long within(void)
{
	long n = 0;

	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
#pragma omp atomic
	n++;
	return n;
}

static long cancelled(void)
{
	long n = 0;

#pragma omp parallel num_threads(THREADS)
	{
#pragma omp cancel parallel
#pragma omp atomic
		n++;
	}
	return n;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 2;
	long n = 0;

	shares(rounds);
	tasks();
	for (int i = 0; i < THREADS; i++)
		n += accounts[i].n_tasks;
	for (int i = 0; i < THREADS; i++)
		fprintf(stderr, "%d %ld %ld %ld %ld %ld\n", accounts[i].tid, accounts[i].join_ns,
			accounts[i].idle_ns, accounts[i].tasks_ns, accounts[i].barrier_ns,
			delay_ns(accounts[i].tid));
	printf("tasks %ld sum %ld within %ld cancelled %ld\n", n, loops(), within(), cancelled());
	return 0;
}
