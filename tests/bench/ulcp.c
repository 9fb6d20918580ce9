/* SPDX-License-Identifier: MIT */
/*
 * ulcp HOW THREADS SECTIONS: threads execute critical sections of one lock: HOW "few" with 16
 * different sets of accesses in each thread, of which some conflict; "many" with lines of 8 MB at
 * random.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINES (8u << 20 >> 6)

struct line {
	volatile long value[8];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct line *lines, table[16];
static volatile long counter;
static pthread_barrier_t begin;
static long n_sections;
static int is_many;

static void few(uint32_t random)
{
	struct line *line = &table[random & 15];

	if (random & 16)
		line->value[random >> 5 & 1]++;
	else if (random & 32)
		(void)line->value[2];
	else
		counter++;
}

static void many(uint32_t random)
{
	struct line *line = &lines[random % LINES];

	if (random >> 31)
		line->value[0]++;
	else
		(void)line->value[0];
	(void)lines[(random >> 7) % LINES].value[1];
}

static void *work(void *seed)
{
	uint32_t random = (uint32_t)(uintptr_t)seed;

	pthread_barrier_wait(&begin);
	for (long i = 0; i < n_sections; i++) {
		random = random * 1664525u + 1013904223u;
		pthread_mutex_lock(&lock);
		if (is_many)
			many(random ^ random >> 15);
		else
			few(random >> 8);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long n = argc > 3 ? atol(argv[2]) : 0;
	pthread_t threads[64];

	if (n < 1 || n > 64)
		return 2;
	is_many = strcmp(argv[1], "many") == 0;
	n_sections = atol(argv[3]) / n;
	lines = calloc(LINES, sizeof(*lines));
	pthread_barrier_init(&begin, NULL, (unsigned)n);
	for (long i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i * 77 + 1));
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(lines);
	return 0;
}
