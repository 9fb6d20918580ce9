/* SPDX-License-Identifier: MIT */
/*
 * Prints the cost of a lock and unlock in nanoseconds, as one number.
 *   bench_lttng N             the two calls, recorded by the preloaded library, if any
 *   bench_lttng N PROVIDER    the program itself writes the two LTTng events: the least that having
 *                             them in a trace can cost
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ust/ust.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long counter;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *nothing(void *arg)
{
	return arg;
}

static void calls(long n)
{
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
	}
}

static void calls_and_events(long n, st_ust_emit_fn *lock, st_ust_emit_fn *unlock)
{
	const uint64_t site = (uintptr_t)calls, object = (uintptr_t)&mutex;

	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		lock(0, site, object, 0);
		counter++;
		unlock(0, site, object, 0);
		pthread_mutex_unlock(&mutex);
	}
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000;
	const struct st_ust_provider *provider = NULL;
	pthread_t thread;
	double start;

	if (argc > 2) {
		void *handle = dlopen(argv[2], RTLD_NOW);

		provider = handle != NULL ? dlsym(handle, ST_UST_PROVIDER) : NULL;
		if (provider == NULL || provider->version != ST_UST_VERSION)
			return 1;
		provider->thread_init();
	}
	/* In a program with one thread, libc omits the locked instructions. */
	if (pthread_create(&thread, NULL, nothing, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	start = now_ns();
	if (provider != NULL)
		calls_and_events(n, provider->emit[ST_EVENT_mutex_lock],
				 provider->emit[ST_EVENT_mutex_unlock]);
	else
		calls(n);
	printf("%.2f\n", (now_ns() - start) / (double)n);
	return 0;
}
