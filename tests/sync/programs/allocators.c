/* SPDX-License-Identifier: MIT */
/*
 * Allocates in short-lived threads and forked children, to contend for the allocator's locks.
 * Prints a checksum, and on stderr the address of its own mutex.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS	100
#define BLOCKS	64

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *handed_over[THREADS]; /* freed by the next thread */
static uint64_t sum;

static uint64_t work(uint64_t seed)
{
	unsigned char *blocks[BLOCKS] = {NULL};
	size_t sizes[BLOCKS] = {0};
	uint64_t result = 0;

	for (int i = 0; i < ROUNDS * 8; i++) {
		unsigned slot = (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 58;
		size_t size = seed >> 40 & (i % 50 == 0 ? 0x3ffff : 0x7ff);

		for (size_t at = 0; at < sizes[slot]; at += 97)
			result = result * 31 + blocks[slot][at];
		if (i % 3 == 0) {
			blocks[slot] = realloc(blocks[slot], size + 1);
		} else {
			free(blocks[slot]);
			blocks[slot] = i % 3 == 1 ? malloc(size + 1) : calloc(1, size + 1);
		}
		assert(blocks[slot] != NULL);
		memset(blocks[slot], (int)seed, size + 1);
		sizes[slot] = size + 1;
	}
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return result;
}

static void *run(void *arg)
{
	uint64_t n = (uint64_t)(uintptr_t)arg, result = work(n + 1);
	void *old;

	pthread_mutex_lock(&mutex);
	sum += result;
	old = handed_over[n % THREADS];
	handed_over[n % THREADS] = NULL;
	handed_over[(n + 1) % THREADS] = old == NULL ? malloc(n + 100) : old;
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void in_threads(void)
{
	pthread_t threads[THREADS];

	for (int round = 0; round < 5; round++) {
		for (uintptr_t i = 0; i < THREADS; i++)
			assert(pthread_create(&threads[i], NULL, run,
					      (void *)(round * THREADS + i)) == 0);
		for (int i = 0; i < THREADS; i++)
			assert(pthread_join(threads[i], NULL) == 0);
	}
}

static void in_children(void)
{
	for (int i = 0; i < 3; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			uint64_t before = sum;

			in_threads();
			_exit(sum != before ? 0 : 1);
		}
		assert(waitpid(pid, &status, 0) == pid);
		printf("child %d: %x\n", i, status);
	}
}

int main(void)
{
	fprintf(stderr, "pid %d object %p\n", getpid(), (void *)&mutex);
	in_threads();
	printf("sum %lx\n", sum);
	fflush(stdout);
	in_children();
	assert(dlsym(RTLD_DEFAULT, "no such symbol") == NULL); /* allocates its error */
	printf("%s\n", dlerror() != NULL ? "an error" : "none");
	return 6;
}
