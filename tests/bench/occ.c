/* SPDX-License-Identifier: MIT */
/*
 * occ HOW THREADS SIZE OPERATIONS INSERTS_PCT: lookups and inserts in a red-black tree of SIZE
 * random keys; prints the wall time in seconds.
 *
 * Operations are optimistic: inserts make the tree's version odd while they change it, and lookups
 * repeat if it has changed.  With HOW "locked" each one is also in a mutex, as in paper 001's
 * section 3.1: so the prediction for the lock can be compared with HOW "optimistic", which has
 * none.  The version is not instrumented: it is what the optimistic concurrency costs, not what the
 * program does.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_THREADS 64
#define MAX_DEPTH   128 /* of a tree that is not being changed */

struct node {
	uint64_t key;
	volatile uint64_t value;
	struct node *volatile child[2];
	struct node *parent;
	bool is_red;
};

static struct node *volatile root;
static struct node *nodes; /* never freed */
static size_t n_nodes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begin;
static bool is_locked;
static uint64_t n_keys;
static unsigned n_operations, inserts_pct;

/* --- the version ---------------------------------------------------------------------------- */

static uint64_t version __attribute__((aligned(64)));

#define NOT_INSTRUMENTED __attribute__((no_sanitize("thread"), noinline))

NOT_INSTRUMENTED static uint64_t read_begin(void)
{
	uint64_t now;

	while ((now = __atomic_load_n(&version, __ATOMIC_ACQUIRE)) & 1)
		sched_yield();
	return now;
}

NOT_INSTRUMENTED static bool read_is_valid(uint64_t since)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&version, __ATOMIC_RELAXED) == since;
}

NOT_INSTRUMENTED static void write_begin(void)
{
	for (;;) {
		uint64_t now = read_begin();

		if (__atomic_compare_exchange_n(&version, &now, now + 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			break;
	}
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

NOT_INSTRUMENTED static void write_end(void)
{
	__atomic_fetch_add(&version, 1, __ATOMIC_RELEASE);
}

/* --- the tree ------------------------------------------------------------------------------- */

static bool lookup(uint64_t key, uint64_t *ret_value)
{
	struct node *node = root;

	for (int depth = 0; node && depth < MAX_DEPTH; depth++) {
		if (node->key == key) {
			*ret_value = node->value;
			return true;
		}
		node = node->child[key > node->key];
	}
	return false;
}

static void replace(struct node *node, struct node *by)
{
	if (!node->parent)
		root = by;
	else
		node->parent->child[node == node->parent->child[1]] = by;
	if (by)
		by->parent = node->parent;
}

/* Moves node's child up into its place; side: where the node goes. */
static void rotate(struct node *node, int side)
{
	struct node *child = node->child[!side];

	replace(node, child);
	node->child[!side] = child->child[side];
	if (node->child[!side])
		node->child[!side]->parent = node;
	child->child[side] = node;
	node->parent = child;
}

static void balance(struct node *node)
{
	while (node->parent && node->parent->is_red) {
		struct node *parent = node->parent, *above = parent->parent;
		int side = parent == above->child[1];
		struct node *uncle = above->child[!side];

		if (uncle && uncle->is_red) {
			parent->is_red = uncle->is_red = false;
			above->is_red = true;
			node = above;
			continue;
		}
		if (node == parent->child[!side]) {
			rotate(parent, side);
			parent = node;
		}
		parent->is_red = false;
		above->is_red = true;
		rotate(above, !side);
		break;
	}
	if (root->is_red)
		root->is_red = false;
}

static void insert(uint64_t key, uint64_t value)
{
	struct node *parent = NULL, *node = root;

	while (node && node->key != key) {
		parent = node;
		node = node->child[key > node->key];
	}
	if (node) {
		node->value = value;
		return;
	}
	node = &nodes[n_nodes++];
	*node = (struct node){.key = key, .value = value, .parent = parent, .is_red = true};
	if (parent)
		parent->child[key > parent->key] = node;
	else
		root = node;
	balance(node);
}

/* --- threads -------------------------------------------------------------------------------- */

static void operate(uint64_t key, bool is_insert)
{
	uint64_t value, since;

	if (is_insert) {
		write_begin();
		insert(key, key);
		write_end();
		return;
	}
	do {
		since = read_begin();
		lookup(key, &value);
	} while (!read_is_valid(since));
}

static uint64_t next_number(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static void *work(void *id)
{
	uint64_t state = (uint64_t)(uintptr_t)id + 1;

	pthread_barrier_wait(&begin);
	for (unsigned i = 0; i < n_operations; i++) {
		uint64_t key = next_number(&state) % n_keys;
		bool is_insert = next_number(&state) % 100 < inserts_pct;

		if (is_locked)
			pthread_mutex_lock(&lock);
		operate(key, is_insert);
		if (is_locked)
			pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	uint64_t size, state = 0;
	double start;
	int n;

	if (argc != 6 || (n = atoi(argv[2])) < 1 || n > MAX_THREADS)
		return 2;
	is_locked = strcmp(argv[1], "locked") == 0;
	size = strtoull(argv[3], NULL, 10);
	n_operations = (unsigned)atoi(argv[4]);
	inserts_pct = (unsigned)atoi(argv[5]);
	n_keys = 2 * size;
	nodes = calloc(n_keys, sizeof(*nodes));
	while (n_nodes < size)
		insert(next_number(&state) % n_keys, 0);
	pthread_barrier_init(&begin, NULL, (unsigned)n + 1);
	for (intptr_t i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	start = now();
	pthread_barrier_wait(&begin);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("%.6f\n", now() - start);
	return 0;
}
