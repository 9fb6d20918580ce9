/* SPDX-License-Identifier: MIT */
/*
 * many_paths [N [ROUNDS [limited]]]: waits ROUNDS (2) times along each of N call paths: the bits of
 * a path's number select left() or right(). The wait ends at once, since its deadline has passed.
 * `limited`: meanwhile no memory can be mapped.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#define APART __attribute__((noinline, noclone))
#define TURNS 13

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile int calls;

static void turn(unsigned number, int n);

/* calls++ after each call prevents tail calls. */
APART static void left(unsigned number, int n)
{
	turn(number, n);
	calls++;
}

APART static void right(unsigned number, int n)
{
	turn(number, n);
	calls++;
}

static inline __attribute__((always_inline)) void turn(unsigned number, int n)
{
	static const struct timespec past = {1, 0};

	if (n == 0)
		assert(pthread_cond_timedwait(&cond, &mutex, &past) == ETIMEDOUT);
	else if (number & 1)
		left(number >> 1, n - 1);
	else
		right(number >> 1, n - 1);
}

static void limit_memory(rlim_t bytes)
{
	struct rlimit limit;

	assert(getrlimit(RLIMIT_AS, &limit) == 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert(setrlimit(RLIMIT_AS, &limit) == 0);
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 2;

	assert(n <= 1u << TURNS);
	pthread_mutex_lock(&mutex);
	if (argc > 3)
		limit_memory(1);
	for (unsigned i = 0; i < rounds * n; i++)
		turn(i % n, TURNS);
	if (argc > 3)
		limit_memory(RLIM_INFINITY);
	pthread_mutex_unlock(&mutex);
	return 9;
}
