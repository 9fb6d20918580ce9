/* SPDX-License-Identifier: MIT */
/*
 * churn N: four threads allocate, resize and free blocks in shared slots, N times each, in critical
 * sections and outside of them, and check that each block has what was written to it. Prints the
 * number of blocks with other contents, and of steps.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_THREADS 4
#define N_SLOTS	  50

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
	unsigned char *at; /* NULL: none */
	size_t n_bytes;
	unsigned char fill;
} slots[N_SLOTS];
static long n_steps, n_done, n_wrong;

static uint64_t draw(uint64_t *state, uint64_t n)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % n;
}

static size_t draw_size(uint64_t *state)
{
	static const size_t most[] = {16, 100, 100, 1000, 5000, 20000};

	return 1 + draw(state, most[draw(state, 6)]);
}

static void *allocate(uint64_t *state, size_t n_bytes)
{
	void *at = NULL;

	switch (draw(state, 5)) {
	case 0:
		return calloc(1, n_bytes);
	case 1:
		return aligned_alloc(64, n_bytes);
	case 2:
		return posix_memalign(&at, 128, n_bytes) == 0 ? at : NULL;
	case 3:
		return realloc(NULL, n_bytes);
	default:
		return malloc(n_bytes);
	}
}

static int has_changed(const unsigned char *at, size_t n_bytes, unsigned char fill)
{
	return at[0] != fill || at[n_bytes - 1] != fill || at[n_bytes / 2] != fill;
}

static void step(uint64_t *state)
{
	uint64_t i = draw(state, N_SLOTS);
	unsigned char *at = NULL;
	size_t n_bytes = draw_size(state);

	pthread_mutex_lock(&mutex);
	n_done++;
	if (slots[i].at == NULL) {
		slots[i].at = allocate(state, n_bytes);
		slots[i].n_bytes = n_bytes;
		slots[i].fill = (unsigned char)n_bytes;
		memset(slots[i].at, slots[i].fill, n_bytes);
	} else if (has_changed(slots[i].at, slots[i].n_bytes, slots[i].fill)) {
		n_wrong++;
	}
	switch (draw(state, 4)) {
	case 0:
		free(slots[i].at);
		slots[i].at = NULL;
		break;
	case 1:
		at = slots[i].at;
		slots[i].at = NULL;
		break;
	case 2:
		slots[i].at = realloc(slots[i].at, n_bytes);
		slots[i].n_bytes = n_bytes;
		memset(slots[i].at, slots[i].fill, n_bytes);
		break;
	}
	pthread_mutex_unlock(&mutex);
	free(at);
	at = allocate(state, n_bytes);
	memset(at, 7, n_bytes);
	free(at);
}

static void *run(void *arg)
{
	uint64_t state = 0x9e3779b97f4a7c15u * (uint64_t)(uintptr_t)arg;

	for (long i = 0; i < n_steps; i++)
		step(&state);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];

	if (argc != 2)
		return 2;
	n_steps = atol(argv[1]);
	for (uintptr_t i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)(i + 1));
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld of %ld\n", n_wrong, n_done);
	return n_wrong != 0;
}
