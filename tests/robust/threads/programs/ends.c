/* SPDX-License-Identifier: MIT */
/*
 * ends N: makes N detached threads, one after the other.  The last operation of each is getpgid(),
 * which the libraries never call, so that a tracer can count the system calls after it.  Prints the
 * time from there to the end of the task: the median and the 90th percentile, in ns.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int tid;
static long begin_ns;

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *run(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	__atomic_store_n(&tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	begin_ns = now_ns();
	syscall(SYS_getpgid, 0);
	return arg;
}

static int compare(const void *a, const void *b)
{
	const long *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	long *took_ns = calloc((size_t)n, sizeof(*took_ns));
	pthread_attr_t detached;

	if (n < 1 || took_ns == NULL)
		return 2;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < n; i++) {
		pthread_t thread;
		int id;

		tid = 0;
		if (pthread_create(&thread, &detached, run, NULL) != 0)
			return 1;
		while ((id = __atomic_load_n(&tid, __ATOMIC_ACQUIRE)) == 0)
			;
		while (syscall(SYS_tgkill, getpid(), id, 0) == 0)
			;
		took_ns[i] = now_ns() - begin_ns;
	}
	qsort(took_ns, (size_t)n, sizeof(*took_ns), compare);
	printf("%ld %ld\n", took_ns[n / 2], took_ns[n * 9 / 10]);
	return 0;
}
