/* SPDX-License-Identifier: MIT */
/*
 * blamed N: two threads take a lock N times by two call paths; one computes while it holds it, the
 * other sleeps. Two others need the lock for an instant. The program measures which of the two
 * holds each of their waits overlaps, and prints for each path: its name and the sum in
 * nanoseconds.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS_MAX 10000

struct span {
	int64_t begin_ns, end_ns;
};

static struct list {
	struct span spans[ROUNDS_MAX];
	int n;
} holds[2], waits[2];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rounds, n_holders = 2;
static volatile unsigned long sum;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void pause_ns(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

__attribute__((noinline)) static void compute(struct span *span)
{
	pthread_mutex_lock(&lock);
	span->begin_ns = now_ns();
	while (now_ns() < span->begin_ns + 400000)
		sum = sum + 1;
	span->end_ns = now_ns();
	pthread_mutex_unlock(&lock);
	sum = sum + 1;
}

__attribute__((noinline)) static void store(struct span *span)
{
	pthread_mutex_lock(&lock);
	span->begin_ns = now_ns();
	pause_ns(300000);
	span->end_ns = now_ns();
	pthread_mutex_unlock(&lock);
	sum = sum + 1;
}

static void *hold(void *arg)
{
	struct list *list = arg;

	for (int i = 0; i < rounds; i++) {
		(list == &holds[0] ? compute : store)(&list->spans[list->n++]);
		pause_ns(200000);
	}
	__atomic_sub_fetch(&n_holders, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void *need(void *arg)
{
	struct list *list = arg;

	while (__atomic_load_n(&n_holders, __ATOMIC_SEQ_CST) > 0 && list->n < ROUNDS_MAX) {
		struct span *span = &list->spans[list->n++];

		span->begin_ns = now_ns();
		pthread_mutex_lock(&lock);
		span->end_ns = now_ns();
		pthread_mutex_unlock(&lock);
		pause_ns(50000);
	}
	return NULL;
}

static int64_t overlap(const struct list *one, const struct list *other)
{
	int64_t ns = 0;

	for (int i = 0; i < one->n; i++)
		for (int j = 0; j < other->n; j++) {
			const struct span *a = &one->spans[i], *b = &other->spans[j];
			int64_t from_ns = a->begin_ns > b->begin_ns ? a->begin_ns : b->begin_ns;
			int64_t to_ns = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;

			ns += to_ns > from_ns ? to_ns - from_ns : 0;
		}
	return ns;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	rounds = argc > 1 ? atoi(argv[1]) : 100;
	if (rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, i < 2 ? hold : need,
				   i < 2 ? &holds[i] : &waits[i - 2]))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("compute %lld\n",
	       (long long)(overlap(&waits[0], &holds[0]) + overlap(&waits[1], &holds[0])));
	printf("store %lld\n",
	       (long long)(overlap(&waits[0], &holds[1]) + overlap(&waits[1], &holds[1])));
	return 0;
}
