/* SPDX-License-Identifier: MIT */
/*
 * turns N: four threads take turns N times each, in a queue in which each waits for a condition
 * variable of its own that stays for the whole run. The one whose turn it is passes it on when all
 * the others queue. Then main gives N items of work to each of two workers, again with a condition
 * variable for each thread, and waits for both.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define WORKERS 2

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct place {
	pthread_cond_t turn;
	int is_next;
} places[THREADS];
static int queue[THREADS], n_queued, n_active = THREADS, n_turns, n;

static int place_is_free = 1;

static void queue_up(int me)
{
	struct place *place = &places[me];

	pthread_mutex_lock(&mutex);
	if (place_is_free) {
		place_is_free = 0;
	} else {
		queue[n_queued++] = me;
		while (!place->is_next)
			pthread_cond_wait(&place->turn, &mutex);
		place->is_next = 0;
	}
	pthread_mutex_unlock(&mutex);
}

/* The first of the queue is next. */
static void pass_on(void)
{
	int next = queue[0];

	n_queued--;
	for (int i = 0; i < n_queued; i++)
		queue[i] = queue[i + 1];
	places[next].is_next = 1;
	pthread_cond_signal(&places[next].turn);
}

static void leave(int is_last)
{
	int all_queue = 0;

	while (!all_queue) {
		pthread_mutex_lock(&mutex);
		all_queue = n_queued == n_active - 1;
		if (all_queue) {
			n_turns++;
			n_active -= is_last;
			if (n_queued)
				pass_on();
		}
		pthread_mutex_unlock(&mutex);
	}
}

static void *take_turns(void *number)
{
	int me = (int)(long)number;

	for (int i = 0; i < n; i++) {
		queue_up(me);
		leave(i == n - 1);
	}
	return NULL;
}

static struct worker {
	pthread_cond_t work;
	int n_items, n_done;
} workers[WORKERS];
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;

static void *work(void *argument)
{
	struct worker *self = argument;

	pthread_mutex_lock(&mutex);
	while (self->n_done < n) {
		while (!self->n_items)
			pthread_cond_wait(&self->work, &mutex);
		self->n_items--;
		self->n_done++;
		pthread_cond_signal(&done);
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void give_work(void)
{
	pthread_mutex_lock(&mutex);
	for (int i = 1; i <= n; i++) {
		for (int k = 0; k < WORKERS; k++) {
			workers[k].n_items++;
			pthread_cond_signal(&workers[k].work);
		}
		while (workers[0].n_done < i || workers[1].n_done < i)
			pthread_cond_wait(&done, &mutex);
	}
	pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	n = argc > 1 ? atoi(argv[1]) : 10;
	for (long i = 0; i < THREADS; i++)
		pthread_cond_init(&places[i].turn, NULL);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, take_turns, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_cond_init(&workers[i].work, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, work, &workers[i]);
	give_work();
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	printf("%d turns\n", n_turns);
	return n_turns == THREADS * n ? 0 : 1;
}
