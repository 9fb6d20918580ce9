/* SPDX-License-Identifier: MIT */
/*
 * late_calls N: runs N threads one after the other, then N at once. Each calls `leaf` where the
 * library cannot foresee it: in the last round of its keys' destructors, from 100 call sites, and
 * in a signal handler at that time. 105 calls per thread.
 */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noipa))
#define TEN(call)                                                                                  \
	call;                                                                                      \
	call;                                                                                      \
	call;                                                                                      \
	call;                                                                                      \
	call;                                                                                      \
	call;                                                                                      \
	call;                                                                                      \
	call;                                                                                      \
	call;                                                                                      \
	call

static pthread_key_t key;
static pthread_barrier_t barrier;
static __thread int n_rounds;

NOINLINE void leaf(void)
{
}

static void handle(int number)
{
	leaf();
}

static void destroy(void *arg)
{
	leaf();
	if (++n_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(key, arg);
		return;
	}
	TEN(TEN(leaf()));
	raise(SIGUSR1);
}

static void *run(void *at_once)
{
	pthread_setspecific(key, &key);
	if (at_once != NULL)
		pthread_barrier_wait(&barrier);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));

	/* After the library's own key: destructors are called in the order of the keys. */
	pthread_key_create(&key, destroy);
	signal(SIGUSR1, handle);
	pthread_barrier_init(&barrier, NULL, (unsigned)n);
	for (int i = 0; i < n; i++) {
		pthread_create(&threads[0], NULL, run, NULL);
		pthread_join(threads[0], NULL);
	}
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, &barrier);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
