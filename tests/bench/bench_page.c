/* SPDX-License-Identifier: MIT */
/*
 * bench_page THREADS LOCKS ROUNDS: each thread takes locks in its own order, at one of 32 call
 * sites, and is sometimes off-CPU while it holds one. This causes many waits of all lengths, on
 * many objects, at many call sites.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

static unsigned n_threads, n_locks, n_rounds;
static pthread_mutex_t *locks;
static volatile unsigned sink;

#define PLACE(n)                                                                                   \
	static __attribute__((noinline)) void place_##n(pthread_mutex_t *lock, unsigned work)      \
	{                                                                                          \
		pthread_mutex_lock(lock);                                                          \
		for (unsigned i = 0; i < work % 64; i++)                                           \
			sink = i;                                                                  \
		if (work % 61 == n)                                                                \
			sched_yield();                                                             \
		pthread_mutex_unlock(lock);                                                        \
	}
#define PLACES(X)                                                                                  \
	X(0)                                                                                       \
	X(1)                                                                                       \
	X(2)                                                                                       \
	X(3)                                                                                       \
	X(4)                                                                                       \
	X(5)                                                                                       \
	X(6)                                                                                       \
	X(7)                                                                                       \
	X(8)                                                                                       \
	X(9)                                                                                       \
	X(10)                                                                                      \
	X(11)                                                                                      \
	X(12)                                                                                      \
	X(13)                                                                                      \
	X(14)                                                                                      \
	X(15)                                                                                      \
	X(16)                                                                                      \
	X(17)                                                                                      \
	X(18)                                                                                      \
	X(19)                                                                                      \
	X(20)                                                                                      \
	X(21)                                                                                      \
	X(22)                                                                                      \
	X(23)                                                                                      \
	X(24)                                                                                      \
	X(25)                                                                                      \
	X(26)                                                                                      \
	X(27)                                                                                      \
	X(28)                                                                                      \
	X(29)                                                                                      \
	X(30)                                                                                      \
	X(31)
#define NAME(n) place_##n,

PLACES(PLACE)

static void (*const places[])(pthread_mutex_t *, unsigned) = {PLACES(NAME)};

static void *work(void *seed)
{
	uint64_t state = (uintptr_t)seed * 0x9e3779b97f4a7c15 + 1;

	for (unsigned i = 0; i < n_rounds; i++) {
		unsigned draw;

		state = state * 6364136223846793005 + 1442695040888963407;
		draw = (unsigned)(state >> 33);
		places[draw % 32](&locks[draw / 32 % n_locks], draw / 4096);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t *threads;

	if (argc != 4)
		return 2;
	n_threads = (unsigned)atoi(argv[1]);
	n_locks = (unsigned)atoi(argv[2]);
	n_rounds = (unsigned)atoi(argv[3]);
	threads = calloc(n_threads, sizeof(*threads));
	locks = calloc(n_locks, sizeof(*locks));
	if (!threads || !locks)
		return 1;
	for (unsigned i = 0; i < n_locks; i++)
		pthread_mutex_init(&locks[i], NULL);
	for (uintptr_t i = 0; i < n_threads; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	for (unsigned i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
