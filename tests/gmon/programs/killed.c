/* SPDX-License-Identifier: MIT */
/*
 * killed [N]: kills N children by SIGKILL at random moments: while they start, open their profile,
 * create threads, reach new call sites, end threads. Every other child executes a new program, the
 * rest are forks. Prints the process id of each, and a lower and an upper bound of its calls of
 * `leaf`: each caller stores in shared memory that it is about to call and that it has called.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "killing.h"

#define CHILDREN_MAX 1000

enum { MAIN, STEADY, SHORT, N_CALLERS };

struct counts {
	_Alignas(64) _Atomic uint64_t before, after;
};

static struct counts (*shared)[N_CALLERS];

__attribute__((noinline, noipa)) static void leaf(void)
{
	__asm__ volatile("");
}

/* x86 stores in program order: `before` is never less than the number of counted calls. */
#define CALL                                                                                       \
	atomic_store_explicit(&mine->before, mine->before + 1, memory_order_relaxed);              \
	leaf();                                                                                    \
	atomic_store_explicit(&mine->after, mine->after + 1, memory_order_relaxed);
#define CALL_4	 CALL CALL CALL CALL
#define CALL_16	 CALL_4 CALL_4 CALL_4 CALL_4
#define CALL_64	 CALL_16 CALL_16 CALL_16 CALL_16
#define CALL_192 CALL_64 CALL_64 CALL_64

UNPROFILED static void call(struct counts *mine){CALL_192}

UNPROFILED static void *steady(void *mine)
{
	for (;;)
		call(mine);
	return NULL;
}

UNPROFILED static void *brief(void *mine)
{
	call(mine);
	return NULL;
}

UNPROFILED static void be_a_child(struct counts *counts)
{
	pthread_t thread;

	call(&counts[MAIN]);
	if (pthread_create(&thread, NULL, steady, &counts[STEADY]) != 0)
		_exit(3);
	for (;;) {
		if (pthread_create(&thread, NULL, brief, &counts[SHORT]) != 0)
			_exit(3);
		call(&counts[MAIN]);
		pthread_join(thread, NULL);
	}
}

UNPROFILED static uint64_t sum_after(const void *shared_counts)
{
	const struct counts *counts = shared_counts;

	return counts[MAIN].after + counts[STEADY].after + counts[SHORT].after;
}

UNPROFILED int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 200;

	shared = map_counts(CHILDREN_MAX * sizeof(*shared));
	if (argc > 2)
		be_a_child(shared[atoi(argv[2])]);
	srandom((unsigned)getpid());
	for (int i = 0; i < n && i < CHILDREN_MAX; i++) {
		struct counts *counts = shared[i];
		pid_t child = fork();
		char number[16];

		if (child == 0 && i % 2 == 0)
			be_a_child(counts);
		if (child == 0) {
			snprintf(number, sizeof(number), "%d", i);
			execl("/proc/self/exe", "killed", "0", number, NULL);
			_exit(2);
		}
		if (child < 0 || kill_one(child, sum_after, counts, 20000) != 0) {
			fprintf(stderr, "child %d was not killed: %s\n", i, strerror(errno));
			return 1;
		}
		printf("%d %lu %lu\n", child, sum_after(counts),
		       counts[MAIN].before + counts[STEADY].before + counts[SHORT].before);
	}
	return 0;
}
