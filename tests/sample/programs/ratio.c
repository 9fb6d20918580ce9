/* SPDX-License-Identifier: MIT */
/*
 * ratio MS THREADS [kill]: threads with minimal stacks each use MS of CPU time, three quarters in
 * `a` and one quarter in `b` (of a library, with -DLIBRARY). Prints INDEX CPU_NS NS_IN_A NS_IN_B of
 * each, from their own clocks, and the CPU time of the process; with "kill", then kills itself.
 */
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

#define MAX_THREADS 8

struct thread {
	pthread_t id;
	uint64_t cpu, a, b;
};

static uint64_t limit_ns;
static sem_t begun;
static volatile unsigned long sink;

NOINLINE void a(void)
{
	for (unsigned long i = 0; i < 150000; i++)
		sink += i * i;
}

#ifdef LIBRARY
void b(void);
#else
NOINLINE void b(void)
{
	for (unsigned long i = 0; i < 50000; i++)
		sink += i * i;
}
#endif

NOINLINE void work(struct thread *thread)
{
	uint64_t start = cpu_ns(), now = start;

	sem_post(&begun);
	while (now < limit_ns) {
		a();
		thread->a += cpu_ns() - now;
		now = cpu_ns();
		b();
		thread->b += cpu_ns() - now;
		now = cpu_ns();
	}
	thread->cpu = now - start;
}

UNPROFILED static void *run(void *thread)
{
	work(thread);
	return NULL;
}

UNPROFILED int main(int argc, char **argv)
{
	static struct thread threads[MAX_THREADS];
	int n = argc > 2 ? atoi(argv[2]) : 0;
	pthread_attr_t smallest;

	if (n < 1 || n > MAX_THREADS)
		return 2;
	limit_ns = strtoull(argv[1], NULL, 10) * 1000000;
	sem_init(&begun, 0, 0);
	pthread_attr_init(&smallest);
	pthread_attr_setstacksize(&smallest, PTHREAD_STACK_MIN);
	/* One after the other, so that the indexes are known; main calls no profiled function. */
	for (int i = 0; i < n; i++) {
		pthread_create(&threads[i].id, &smallest, run, &threads[i]);
		sem_wait(&begun);
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i].id, NULL);
	for (int i = 0; i < n; i++)
		printf("%d %lu %lu %lu\n", i, threads[i].cpu, threads[i].a, threads[i].b);
	printf("%lu\n", process_cpu_ns());
	fflush(stdout);
	if (argc > 3)
		raise(SIGKILL);
	return 0;
}
