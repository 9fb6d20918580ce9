/* SPDX-License-Identifier: MIT */
/*
 * A shared object that locks in library code: in constructors (before those of a preloaded
 * library), destructors, handlers of fork() and exit(), destructors of thread-specific data. Its
 * allocator locks too, so that a lock is acquired before any constructor has run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern pthread_mutex_t early_mutex, heap_mutex;
extern long early_locks, heap_locks;

pthread_mutex_t early_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t heap_mutex = PTHREAD_MUTEX_INITIALIZER;
long early_locks, heap_locks;

static _Alignas(64) char heap[64 << 20];
static size_t heap_used;
static pthread_key_t key;

static void lock_once(void)
{
	pthread_mutex_lock(&early_mutex);
	early_locks++;
	pthread_mutex_unlock(&early_mutex);
}

/* Each block is preceded by its size; memory is never reused. */
void *malloc(size_t size)
{
	size_t *block;

	pthread_mutex_lock(&heap_mutex);
	heap_locks++;
	size = (size + 31) & ~(size_t)15;
	if (size > sizeof(heap) - heap_used)
		_exit(99);
	block = (size_t *)(void *)(heap + heap_used);
	heap_used += size;
	pthread_mutex_unlock(&heap_mutex);
	block[0] = size - 16;
	return block + 2;
}

void free(void *pointer)
{
	(void)pointer;
	pthread_mutex_lock(&heap_mutex);
	heap_locks++;
	pthread_mutex_unlock(&heap_mutex);
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size);
}

void *realloc(void *old, size_t size)
{
	void *new = malloc(size);

	if (old != NULL)
		memcpy(new, old, ((size_t *)old)[-2] < size ? ((size_t *)old)[-2] : size);
	return new;
}

static void at_thread_end(void *rounds)
{
	lock_once();
	if ((uintptr_t)rounds > 1)
		pthread_setspecific(key, (void *)((uintptr_t)rounds - 1));
}

void early_watch(void);

void early_watch(void)
{
	pthread_setspecific(key, (void *)2);
}

__attribute__((constructor)) static void begin(void)
{
	free(malloc(10));
	lock_once();
	pthread_key_create(&key, at_thread_end);
	pthread_atfork(lock_once, lock_once, lock_once);
	atexit(lock_once);
}

__attribute__((destructor)) static void end(void)
{
	char line[128] = "", *p = line + sizeof(line);
	long counts[2];

	lock_once();
	free(malloc(10));
	counts[0] = early_locks;
	counts[1] = heap_locks;
	/* Prints "early N heap N" without an allocation */
	*--p = '\n';
	for (int i = 1; i >= 0; i--) {
		for (long n = counts[i]; n > 0; n /= 10)
			*--p = (char)('0' + n % 10);
		p -= 7;
		memcpy(p, i ? "  heap " : " early ", 7);
	}
	if (write(2, p, (size_t)(line + sizeof(line) - p)) < 0)
		_exit(98);
}
