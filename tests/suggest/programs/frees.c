/* SPDX-License-Identifier: MIT */
/*
 * A thread reads the node that is published, another one publishes a new node and ends the life of
 * the old one in several ways, each with a lock of its own.  They take turns, so that each section
 * of one follows one of the other.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define N_ROUNDS    20
#define N_WORDS	    512
#define WAYS	    X(freed) X(later) X(moved) X(unmapped) X(kept)
#define NOT_INLINED __attribute__((noinline))

static volatile int n_done;
static pthread_barrier_t turn;

/* Only the reader uses the words in the middle while a node is published. */
struct node {
	long words[N_WORDS];
};

#define X(way)                                                                                     \
	static pthread_mutex_t way##_lock = PTHREAD_MUTEX_INITIALIZER;                             \
	static _Alignas(64) struct node *way##_node;                                               \
	static _Alignas(64) long way##_read;
WAYS
#undef X

    NOT_INLINED static void
    work(void)
{
	for (int i = 0; i < 100; i++)
		n_done = i;
}

NOT_INLINED static void read_freed(void)
{
	const struct node *node;

	pthread_mutex_lock(&freed_lock);
	node = freed_node;
	freed_read += node->words[N_WORDS / 2]; /* freed: reads */
	pthread_mutex_unlock(&freed_lock);
}

NOT_INLINED static void read_later(void)
{
	const struct node *node;

	pthread_mutex_lock(&later_lock);
	node = later_node;
	later_read += node->words[N_WORDS / 2]; /* later: reads */
	pthread_mutex_unlock(&later_lock);
}

NOT_INLINED static void read_moved(void)
{
	const struct node *node;

	pthread_mutex_lock(&moved_lock);
	node = moved_node;
	moved_read += node->words[N_WORDS / 2]; /* moved: reads */
	pthread_mutex_unlock(&moved_lock);
}

NOT_INLINED static void read_unmapped(void)
{
	const struct node *node;

	pthread_mutex_lock(&unmapped_lock);
	node = unmapped_node;
	unmapped_read += node->words[N_WORDS / 2]; /* unmapped: reads */
	pthread_mutex_unlock(&unmapped_lock);
}

/* Freed when the reader has ended. */
NOT_INLINED static void read_kept(void)
{
	const struct node *node;

	pthread_mutex_lock(&kept_lock);
	node = kept_node;
	kept_read += node->words[N_WORDS / 2]; /* kept: reads */
	pthread_mutex_unlock(&kept_lock);
}

static struct node *new_node(void)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node)
		abort();
	return node;
}

static struct node *new_mapping(void)
{
	struct node *node =
	    mmap(NULL, sizeof(*node), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (node == MAP_FAILED)
		abort();
	return node;
}

/* The only thread that changes the pointer knows it without the lock. */
NOT_INLINED static void change_freed(struct node *old, struct node *node)
{
	pthread_mutex_lock(&freed_lock);
	free(old); /* freed: frees */
	freed_node = node;
	pthread_mutex_unlock(&freed_lock);
}

NOT_INLINED static void change_later(struct node *node)
{
	struct node *old;

	pthread_mutex_lock(&later_lock);
	old = later_node;
	later_node = node;
	pthread_mutex_unlock(&later_lock);
	free(old);
}

NOT_INLINED static void change_moved(void)
{
	pthread_mutex_lock(&moved_lock);
	moved_node = realloc(moved_node, 2 * sizeof(struct node));
	moved_node = realloc(moved_node, 600 * sizeof(struct node));
	pthread_mutex_unlock(&moved_lock);
}

NOT_INLINED static void change_unmapped(struct node *node)
{
	pthread_mutex_lock(&unmapped_lock);
	munmap(unmapped_node, sizeof(*node));
	unmapped_node = node;
	pthread_mutex_unlock(&unmapped_lock);
}

NOT_INLINED static void change_kept(struct node *node)
{
	pthread_mutex_lock(&kept_lock);
	kept_node = node;
	pthread_mutex_unlock(&kept_lock);
}

static void *read_all(void *none)
{
	for (int i = 0; i < N_ROUNDS; i++) {
#define X(way) read_##way();
		WAYS
#undef X
		work();
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
	}
	return none;
}

static void *change_all(void *kept)
{
	for (int i = 0; i < N_ROUNDS; i++) {
		pthread_barrier_wait(&turn);
		change_freed(freed_node, new_node());
		change_later(new_node());
		change_moved();
		change_unmapped(new_mapping());
		change_kept(((struct node **)kept)[i % 2]);
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

int main(void)
{
	struct node *kept[] = {new_node(), new_node()};
	pthread_t threads[2];

	freed_node = new_node();
	later_node = new_node();
	moved_node = new_node();
	unmapped_node = new_mapping();
	kept_node = kept[0];
	pthread_barrier_init(&turn, NULL, 2);
	if (pthread_create(&threads[0], NULL, read_all, NULL) ||
	    pthread_create(&threads[1], NULL, change_all, kept))
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++)
		free(kept[i]);
	return 0;
}
