/* SPDX-License-Identifier: MIT */
/*
 * counts THREADS CALLS LOCKS [MORE]: each thread calls step() and acquires the lock that many
 * times; with MORE, each also calls extra() once, and there is a thread "more" that does only this.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned sum;
static unsigned n_calls, n_locks, more;

__attribute__((noinline)) static void step(void)
{
	sum = sum + 1;
}

__attribute__((noinline)) static void extra(void)
{
	sum = sum + 2;
}

__attribute__((noinline)) static void take(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void *run(void *name)
{
	pthread_setname_np(pthread_self(), name);
	for (unsigned i = 0; i < n_calls; i++)
		step();
	for (unsigned i = 0; i < n_locks; i++)
		take();
	if (more)
		extra();
	return NULL;
}

static void *run_more(void *name)
{
	pthread_setname_np(pthread_self(), name);
	extra();
	return NULL;
}

int main(int argc, char **argv)
{
	static char names[MAX_THREADS][16];
	pthread_t threads[MAX_THREADS + 1];
	unsigned n = argc < 4 ? 0 : (unsigned)atoi(argv[1]);

	if (n == 0 || n > MAX_THREADS)
		return 2;
	n_calls = (unsigned)atoi(argv[2]);
	n_locks = (unsigned)atoi(argv[3]);
	more = argc > 4;
	for (unsigned i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "%s", i == 0 ? "first" : "next");
		if (pthread_create(&threads[i], NULL, run, names[i]))
			return 1;
	}
	if (more && pthread_create(&threads[n], NULL, run_more, "more"))
		return 1;
	for (unsigned i = 0; i < n + more; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
