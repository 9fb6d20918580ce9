/* SPDX-License-Identifier: MIT */
/*
 * many_mutexes N PAIRS: has N objects, each with a mutex and, guarded by it, the number of the next
 * object, far away in memory.  Locks and unlocks each object once, then makes PAIRS further locks
 * and unlocks.  Each step depends on the one before, so that memory latency is not hidden.  Prints
 * the CPU time of a lock and unlock, in nanoseconds.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STEP 618033u /* coprime to the powers of ten */

static struct object {
	pthread_mutex_t mutex;
	uint64_t next;
} * objects;

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint64_t pairs(uint64_t at, uint64_t n_pairs)
{
	while (n_pairs-- > 0) {
		struct object *object = &objects[at];

		pthread_mutex_lock(&object->mutex);
		at = object->next;
		pthread_mutex_unlock(&object->mutex);
	}
	return at;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	uint64_t n_pairs = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000, at;
	double start_ns;

	objects = calloc(n, sizeof(*objects));
	if (objects == NULL)
		return 1;
	for (uint64_t i = 0; i < n; i++) {
		pthread_mutex_init(&objects[i].mutex, NULL);
		objects[i].next = (i + STEP) % n;
	}
	at = pairs(0, n);
	start_ns = cpu_ns();
	at = pairs(at, n_pairs);
	printf("%.2f\n", (cpu_ns() - start_ns) / (double)n_pairs);
	return at > n;
}
