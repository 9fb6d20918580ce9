/* SPDX-License-Identifier: MIT */
/*
 * Sections whose variables are known: a stack of heap blocks that two threads fill and empty in
 * turns, slots of one cache line under locks of their own, and what each thread has for itself.
 */
#include <pthread.h>
#include <stdlib.h>

#define N 200

struct node {
	struct node *next;
	long value;
};

static pthread_mutex_t stack_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t slot_locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static struct node *head;
struct {
	long pushed;
	int turn;
} state;
static _Alignas(64) volatile long slots[8];
static _Alignas(64) volatile long own[2][8];

/* Pushes a node, and hands the turn over to the other thread. */
static void push(int me)
{
	struct node *node = malloc(sizeof(*node));

	pthread_mutex_lock(&stack_lock); /* push */
	while (state.turn != me)
		pthread_cond_wait(&turned, &stack_lock);
	node->next = head;
	node->value = me;
	head = node;
	state.pushed++;
	state.turn = !me;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&stack_lock);
}

static void pop(int me)
{
	struct node *node;

	pthread_mutex_lock(&stack_lock); /* pop */
	while (state.turn != me)
		pthread_cond_wait(&turned, &stack_lock);
	node = head;
	head = node->next;
	state.turn = !me;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&stack_lock);
	free(node);
}

static void count(int me)
{
	pthread_mutex_lock(&slot_locks[me]); /* slot */
	slots[me]++;
	own[me][0] = slots[me];
	pthread_mutex_unlock(&slot_locks[me]);
}

static void *run(void *arg)
{
	int me = (int)(long)arg;

	for (int i = 0; i < N; i++) {
		if (me == 0)
			push(me);
		else
			pop(me);
		count(me);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return head != NULL;
}
