/* SPDX-License-Identifier: MIT */
/*
 * accesses locked|rare|mixed|heap|queue|often N: two threads perform N steps each.
 *
 * locked: a step is a critical section that updates entries of a table, found by a hash, and keeps
 * a list of the latest ones. All accesses are made while the lock is held.
 * rare: a step works on the thread's own table, and one in 100 takes the lock to add a sum. It
 * consists of accesses, too.
 * mixed: the same, but a step computes a polynomial of each key, and updates one entry in 16.
 * heap: a step allocates 64 blocks of various sizes and frees those of the step before.
 * queue: a step puts a node into a list in a critical section, takes the oldest one out in another
 * one, and frees it.
 * often: a step computes for 1.3 us, and adds to a sum under a lock of the thread's own.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ENTRIES 1024
#define UPDATES 64
#define LATEST	16

struct entry {
	uint64_t key, count, sum;
	uint32_t next, last;
};

struct table {
	struct entry entries[ENTRIES];
	uint32_t latest[LATEST], n;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct table shared;
static struct table own[2];
static struct {
	_Alignas(64) pthread_mutex_t mutex;
	uint64_t sum;
} sums[2] = {{PTHREAD_MUTEX_INITIALIZER, 0}, {PTHREAD_MUTEX_INITIALIZER, 0}};
static struct node {
	struct node *next;
	uint64_t key;
} * first, **last = &first;
static volatile uint64_t total;
static long n_steps;
static char kind;

static __attribute__((noinline)) void update(struct table *table, uint64_t key)
{
	struct entry *entry = &table->entries[key * 0x9e3779b97f4a7c15u >> 54];

	entry->key = key;
	entry->count++;
	entry->sum += key;
	entry->last = table->latest[table->n % LATEST];
	table->latest[table->n++ % LATEST] = (uint32_t)(entry - table->entries);
	table->entries[entry->last].next = (uint32_t)entry->count;
}

static uint64_t compute(uint64_t x)
{
	double y = (double)x;

	for (int i = 0; i < 20; i++)
		y = y * 0.5 + 1.25 / (y + 1);
	return x + (uint64_t)y;
}

static __attribute__((noinline)) void turn_over(uint64_t **blocks, uint64_t step)
{
	for (uint64_t k = 0; k < UPDATES; k++) {
		free(blocks[k]);
		blocks[k] = malloc(16 + (step + k) * 7 % 500);
		*blocks[k] = step;
	}
}

static __attribute__((noinline)) void put_and_take(uint64_t key)
{
	struct node *node = malloc(sizeof(*node));

	node->next = NULL;
	node->key = key;
	pthread_mutex_lock(&mutex);
	*last = node;
	last = &node->next;
	pthread_mutex_unlock(&mutex);
	pthread_mutex_lock(&mutex);
	node = first;
	first = node->next;
	if (first == NULL)
		last = &first;
	shared.n += (uint32_t)node->key;
	pthread_mutex_unlock(&mutex);
	free(node);
}

static __attribute__((noinline)) void add_often(int which, uint64_t key)
{
	for (int i = 0; i < 10; i++)
		key = compute(key);
	pthread_mutex_lock(&sums[which].mutex);
	sums[which].sum += key;
	pthread_mutex_unlock(&sums[which].mutex);
}

static void *run(void *arg)
{
	uint64_t *blocks[UPDATES] = {NULL};
	struct table *mine = arg;

	for (long i = 0; i < n_steps; i++) {
		if (kind == 'q') {
			put_and_take((uint64_t)i);
			continue;
		}
		if (kind == 'o') {
			add_often(mine == &own[1], (uint64_t)i);
			continue;
		}
		if (kind == 'h')
			turn_over(blocks, (uint64_t)i);
		if (kind == 'l') {
			pthread_mutex_lock(&mutex);
			for (uint64_t k = 0; k < UPDATES; k++)
				update(&shared, (uint64_t)i % 16 + k);
			pthread_mutex_unlock(&mutex);
			continue;
		}
		for (uint64_t k = 0; k < UPDATES; k++) {
			uint64_t key = kind == 'm' ? compute((uint64_t)i + k) : (uint64_t)i + k;

			if (kind == 'r' || (kind == 'm' && k % 16 == 0))
				update(mine, key);
		}
		if (i % 100 == 0) {
			pthread_mutex_lock(&mutex);
			total += mine->entries[7].sum;
			pthread_mutex_unlock(&mutex);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc != 3)
		return 2;
	kind = argv[1][0];
	n_steps = atol(argv[2]);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, &own[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%lu %lu\n", (unsigned long)shared.n, (unsigned long)total);
	return 0;
}
