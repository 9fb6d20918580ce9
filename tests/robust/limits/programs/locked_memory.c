/* SPDX-License-Identifier: MIT */
/*
 * locked_memory PAIRS: locks its present and future memory, then two threads lock and unlock a
 * mutex of their own PAIRS times.  Prints the result of mlockall() and the number of threads, and
 * on stderr the locked memory at the end, in KiB.
 *
 * locked_memory now: locks its present memory after one lock and unlock.  Prints the result of
 * mlockall(), and on stderr the locked memory in KiB.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define N_THREADS   2
#define STACK_BYTES 65536

static pthread_barrier_t done, told;
static int n_pairs;

static void *work(void *unused)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	for (int i = 0; i < n_pairs; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	pthread_barrier_wait(&done);
	pthread_barrier_wait(&told);
	return unused;
}

static long locked_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	long kib = -1;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, "VmLck:", 6) == 0)
			kib = atol(line + 6);
	if (file != NULL)
		fclose(file);
	return kib;
}

static int later(int pairs)
{
	pthread_t threads[N_THREADS];
	pthread_attr_t attr;
	int n = 0, error, locked = mlockall(MCL_CURRENT | MCL_FUTURE);

	n_pairs = pairs;
	pthread_barrier_init(&done, NULL, N_THREADS + 1);
	pthread_barrier_init(&told, NULL, N_THREADS + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	while (n < N_THREADS && (error = pthread_create(&threads[n], &attr, work, NULL)) == 0)
		n++;
	printf("%d %d\n", locked, n);
	if (n < N_THREADS)
		return 2;
	pthread_barrier_wait(&done);
	fprintf(stderr, "%ld\n", locked_kib());
	pthread_barrier_wait(&told);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 7;
}

static int now(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	printf("%d\n", mlockall(MCL_CURRENT));
	fprintf(stderr, "%ld\n", locked_kib());
	return 7;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "now") == 0)
		return now();
	return later(argc > 1 ? atoi(argv[1]) : 1000);
}
