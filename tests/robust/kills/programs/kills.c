/* SPDX-License-Identifier: MIT */
/*
 * kills N: makes N children, one after the other, and kills each by SIGKILL at a random moment:
 * while it starts, begins threads, fills packets or ends threads.  Every other child executes the
 * program anew.  Prints for each child its pid, the lower and upper bound of its calls of `leaf`,
 * and those of its locks of mutexes.  Each thread counts in shared memory before and after each
 * call, and before and after each pair of lock and unlock; these counts are the bounds.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gmon/programs/killing.h"

#define NOINLINE     __attribute__((noinline, noipa))
#define CHILDREN_MAX 1000

enum { MAIN, STEADY, SHORT, N_THREADS };

struct counts {
	_Alignas(64) _Atomic uint64_t calls_before, calls_after, locks_before, locks_after;
};

static struct counts (*shared)[N_THREADS];
static pthread_mutex_t mutexes[N_THREADS];

NOINLINE static void leaf(void)
{
	__asm__ volatile("");
}

/* Only the count's own thread calls this.  x86 makes stores visible in program order. */
UNPROFILED static void add(_Atomic uint64_t *count)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
			      memory_order_release);
}

UNPROFILED static void work(struct counts *mine, pthread_mutex_t *mutex)
{
	for (int i = 0; i < 100; i++) {
		add(&mine->calls_before);
		leaf();
		add(&mine->calls_after);
		add(&mine->locks_before);
		pthread_mutex_lock(mutex);
		pthread_mutex_unlock(mutex);
		add(&mine->locks_after);
	}
}

UNPROFILED static void *steady(void *mine)
{
	for (;;)
		work(mine, &mutexes[STEADY]);
	return NULL;
}

UNPROFILED static void *brief(void *mine)
{
	work(mine, &mutexes[SHORT]);
	return NULL;
}

UNPROFILED static void be_a_child(struct counts *counts)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, steady, &counts[STEADY]) != 0)
		_exit(3);
	for (;;) {
		if (pthread_create(&thread, NULL, brief, &counts[SHORT]) != 0)
			_exit(3);
		work(&counts[MAIN], &mutexes[MAIN]);
		pthread_join(thread, NULL);
	}
}

UNPROFILED static uint64_t n_done(const void *shared_counts)
{
	const struct counts *counts = shared_counts;

	return counts[MAIN].locks_after + counts[STEADY].locks_after + counts[SHORT].locks_after;
}

UNPROFILED static void print(pid_t child, const struct counts *counts)
{
	uint64_t sums[4] = {0};

	for (int i = 0; i < N_THREADS; i++) {
		sums[0] += counts[i].calls_after;
		sums[1] += counts[i].calls_before;
		sums[2] += counts[i].locks_after;
		sums[3] += counts[i].locks_before;
	}
	printf("%d %lu %lu %lu %lu\n", child, sums[0], sums[1], sums[2], sums[3]);
}

UNPROFILED int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 200;

	shared = map_counts(CHILDREN_MAX * sizeof(*shared));
	if (argc > 2)
		be_a_child(shared[atoi(argv[2])]);
	srandom((unsigned)getpid());
	for (int i = 0; i < n && i < CHILDREN_MAX; i++) {
		pid_t child = fork();
		char number[16];

		if (child == 0 && i % 2 == 0)
			be_a_child(shared[i]);
		if (child == 0) {
			snprintf(number, sizeof(number), "%d", i);
			execl("/proc/self/exe", "kills", "0", number, NULL);
			_exit(2);
		}
		if (child < 0 || kill_one(child, n_done, shared[i], 5000) != 0) {
			fprintf(stderr, "child %d was not killed: %s\n", i, strerror(errno));
			return 1;
		}
		print(child, shared[i]);
	}
	return 0;
}
