/* SPDX-License-Identifier: MIT */
/*
 * Creates many short threads, one after the other and in batches, each with some locks. Exits with
 * status 1 if descriptors or mappings accumulate. Prints "thread TID OPERATIONS" for each.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BATCH 20

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int count_maps(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	int c, n = 0;

	while ((c = getc(file)) != EOF)
		n += c == '\n';
	fclose(file);
	return n;
}

static int next_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

static void *odd(void *arg)
{
	long n = (long)arg % 7;

	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	pthread_mutex_lock(&mutex);
	printf("thread %d %ld\n", gettid(), n + 1);
	pthread_mutex_unlock(&mutex);
	if (n == 3)
		pthread_exit(arg);
	return arg;
}

static void run(long first, long n)
{
	pthread_t threads[BATCH];

	for (long i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, odd, (void *)(first + i)) != 0)
			abort();
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 2000;
	int maps, descriptor = next_descriptor();

	run(0, BATCH);
	maps = count_maps();
	for (long i = BATCH; i < n / 2; i++)
		run(i, 1);
	for (long i = n / 2; i < n; i += BATCH)
		run(i, BATCH);
	fprintf(stderr, "mappings %d, then %d\n", maps, count_maps());
	/* At most 24 streams, each with sites and up to three files. */
	return next_descriptor() != descriptor || count_maps() > maps + 80;
}
