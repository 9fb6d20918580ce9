/* SPDX-License-Identifier: MIT */
/*
 * wide ROUNDS: in each of four threads, ROUNDS times, one of 8 functions calls two of them, and so
 * on for four levels: 15 calls per round.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static __thread uint64_t state;
static volatile int sink;
static int n_rounds;

static void call(int levels);

#define FUNCTION(n)                                                                                \
	__attribute__((noinline)) static void f##n(int levels)                                     \
	{                                                                                          \
		if (levels > 0) {                                                                  \
			call(levels - 1);                                                          \
			call(levels - 2);                                                          \
		}                                                                                  \
		sink = n;                                                                          \
	}
#define ALL(X)	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define NAME(n) f##n,

ALL(FUNCTION)

static void (*const functions[])(int) = {ALL(NAME)};

__attribute__((always_inline)) static inline void call(int levels)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	functions[state >> 33 & 7](levels);
}

static void *run(void *seed)
{
	state = (uintptr_t)seed;
	for (int i = 0; i < n_rounds; i++)
		call(4);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	n_rounds = argc > 1 ? atoi(argv[1]) : 1;
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run, (void *)(i + 1));
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
