/* SPDX-License-Identifier: MIT */
/*
 * blamed N: two threads take a lock N times by two call paths; one computes while it holds it, the
 * other sleeps. Two others need the lock for an instant. The program measures which of the two
 * holds each of their waits overlaps, and prints for each path: its name, and the sum in
 * nanoseconds: at least, and at most, since the acquisition and the release are some time between
 * two others.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS_MAX 10000

struct span {
	int64_t begin_ns, end_ns;
	/* A hold: before the call that acquires, and after the release. */
	int64_t asked_ns, released_ns;
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
	span->asked_ns = now_ns();
	pthread_mutex_lock(&lock);
	span->begin_ns = now_ns();
	while (now_ns() < span->begin_ns + 400000)
		sum = sum + 1;
	span->end_ns = now_ns();
	pthread_mutex_unlock(&lock);
	span->released_ns = now_ns();
}

__attribute__((noinline)) static void store(struct span *span)
{
	span->asked_ns = now_ns();
	pthread_mutex_lock(&lock);
	span->begin_ns = now_ns();
	pause_ns(300000);
	span->end_ns = now_ns();
	pthread_mutex_unlock(&lock);
	span->released_ns = now_ns();
}

static void *hold(void *arg)
{
	struct list *list = arg;
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	/* The files of the thread are made at its first operation, which may take long on a busy
	 * disk. */
	pthread_mutex_lock(&own);
	pthread_mutex_unlock(&own);
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

/* The last end of a span before the hold begins, if that is later than from_ns. */
static int64_t last_end(const struct list *list, const struct span *hold, int64_t from_ns)
{
	for (int i = 0; i < list->n; i++) {
		int64_t end_ns = list->spans[i].end_ns;

		if (end_ns <= hold->begin_ns && end_ns > from_ns)
			from_ns = end_ns;
	}
	return from_ns;
}

/* Until the end of the hold before, another thread held the lock. */
static void find_earliest(struct span *hold)
{
	for (int i = 0; i < 2; i++) {
		hold->asked_ns = last_end(&holds[i], hold, hold->asked_ns);
		hold->asked_ns = last_end(&waits[i], hold, hold->asked_ns);
	}
}

static int64_t overlap(const struct list *waits_of, const struct list *holds_of, bool most)
{
	int64_t ns = 0;

	for (int i = 0; i < waits_of->n; i++)
		for (int j = 0; j < holds_of->n; j++) {
			const struct span *wait = &waits_of->spans[i], *hold = &holds_of->spans[j];
			int64_t end_ns = most ? hold->released_ns : hold->end_ns;
			int64_t begin_ns = most ? hold->asked_ns : hold->begin_ns;
			int64_t from_ns = wait->begin_ns > begin_ns ? wait->begin_ns : begin_ns;
			int64_t to_ns = wait->end_ns < end_ns ? wait->end_ns : end_ns;

			ns += to_ns > from_ns ? to_ns - from_ns : 0;
		}
	return ns;
}

static void print(const char *name, const struct list *holds_of)
{
	int64_t ns[2] = {0};

	for (int most = 0; most < 2; most++)
		for (int i = 0; i < 2; i++)
			ns[most] += overlap(&waits[i], holds_of, most);
	printf("%s %lld %lld\n", name, (long long)ns[0], (long long)ns[1]);
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
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < holds[i].n; k++)
			find_earliest(&holds[i].spans[k]);
	print("compute", &holds[0]);
	print("store", &holds[1]);
	return 0;
}
