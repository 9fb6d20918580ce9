/* SPDX-License-Identifier: MIT */
/*
 * cases CASE: four threads execute a section whose conflicts are known:
 *
 *   counter   all increment one variable
 *   slots     each increments a place of its own in one cache line
 *   disjoint  each increments a variable in a cache line of its own
 *   readers   all read one variable, as readers of a read-write lock
 *   heap      as counter, with a lock and a variable on the heap, acquired at two places
 *   alone     as counter, with one thread
 *   other     as counter, with another lock
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_THREADS  4
#define ITERATIONS 500

struct slot {
	volatile long value;
} __attribute__((aligned(64)));

struct shared {
	pthread_mutex_t mutex;
	struct slot counter;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t begin;
static volatile long counter __attribute__((aligned(64)));
static volatile long slots[8] __attribute__((aligned(64)));
static struct slot lines[N_THREADS];
static struct shared *shared;
static const char *kind;

static void in_mutex(pthread_mutex_t *mutex, volatile long *variable)
{
	pthread_mutex_lock(mutex);
	++*variable;
	pthread_mutex_unlock(mutex);
}

static void read_variable(void)
{
	pthread_rwlock_rdlock(&rwlock);
	(void)counter;
	pthread_rwlock_unlock(&rwlock);
}

static void in_heap(int is_second)
{
	if (is_second)
		pthread_mutex_lock(&shared->mutex);
	else
		pthread_mutex_lock(&shared->mutex);
	++shared->counter.value;
	pthread_mutex_unlock(&shared->mutex);
}

static void *work(void *id)
{
	long number = (long)id;

	pthread_barrier_wait(&begin);
	for (int i = 0; i < ITERATIONS; i++) {
		if (strcmp(kind, "slots") == 0)
			in_mutex(&lock, &slots[number]);
		else if (strcmp(kind, "disjoint") == 0)
			in_mutex(&lock, &lines[number].value);
		else if (strcmp(kind, "readers") == 0)
			read_variable();
		else if (strcmp(kind, "heap") == 0)
			in_heap(i % 2);
		else
			in_mutex(strcmp(kind, "other") == 0 ? &other_lock : &lock, &counter);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];
	long n;

	kind = argc > 1 ? argv[1] : "counter";
	n = strcmp(kind, "alone") == 0 ? 1 : N_THREADS;
	shared = aligned_alloc(64, sizeof(*shared));
	pthread_mutex_init(&shared->mutex, NULL);
	pthread_barrier_init(&begin, NULL, (unsigned)n);
	for (long i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
