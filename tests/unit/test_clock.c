/* SPDX-License-Identifier: MIT */
/*
 * The fast clock follows the kernel's clock: each reading lies between two readings of
 * clock_gettime() around it, within the error that the clock states. It never goes back, and two
 * threads agree.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "runtime/stream/clock.h"

#define RUN_NS	300000000u
#define THREADS 2

struct result {
	uint64_t n_readings, n_back, n_early, n_late, n_anchors, error_ns, worst_ns;
};

static _Atomic uint64_t handed_over;

static uint64_t kernel_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *read_on(void *arg)
{
	struct result *result = arg;
	struct gm_clock clock = {0};
	uint64_t start = kernel_ns(), last = 0, base = 0, before, now, after;

	do {
		uint64_t off = 0;

		before = kernel_ns();
		now = gm_clock_read_ordered(&clock);
		__asm__ volatile("lfence" ::: "memory");
		after = kernel_ns();
		if (now < before)
			off = before - now;
		if (now > after)
			off = now - after;
		result->n_early += now < before && off > 2 * clock.error_ns + 200;
		result->n_late += now > after && off > 2 * clock.error_ns + 200;
		result->worst_ns = off > result->worst_ns ? off : result->worst_ns;
		result->n_back += now < last;
		result->n_anchors += clock.tsc_base != base;
		base = clock.tsc_base;
		last = now;
		result->n_readings++;
	} while (after - start < RUN_NS);
	result->error_ns = clock.error_ns;
	return NULL;
}

/*
 * Stamps passed from thread to thread through memory do not decrease, except by the errors of both.
 */
static void *hand_over(void *arg)
{
	struct result *result = arg;
	struct gm_clock clock = {0};
	uint64_t start = kernel_ns(), now;

	do {
		uint64_t others = atomic_load_explicit(&handed_over, memory_order_acquire);

		now = gm_clock_read_ordered(&clock);
		if (now < others && others - now > result->worst_ns)
			result->worst_ns = others - now;
		result->n_early += now + 2 * clock.error_ns + 200 < others;
		atomic_store_explicit(&handed_over, now, memory_order_release);
		result->n_readings++;
	} while (now - start < RUN_NS);
	result->error_ns = clock.error_ns;
	return NULL;
}

static int run(void *(*routine)(void *), const char *name)
{
	struct result results[THREADS] = {0};
	pthread_t threads[THREADS];
	int failed = 0;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, routine, &results[i]) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++) {
		const struct result *r = &results[i];

		pthread_join(threads[i], NULL);
		printf("%s: %lu readings, %lu lines, error %lu ns, worst seen %lu ns, %lu back, "
		       "%lu early, %lu late\n",
		       name, r->n_readings, r->n_anchors, r->error_ns, r->worst_ns, r->n_back,
		       r->n_early, r->n_late);
		failed |= r->n_back > 0 || r->n_early > 0 || r->n_late > 0 || r->n_readings == 0;
	}
	return failed;
}

int main(void)
{
	gm_clock_init();
	return run(read_on, "against the kernel") | run(hand_over, "against each other");
}
