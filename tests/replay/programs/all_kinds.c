/* SPDX-License-Identifier: MIT */
/*
 * Three threads that use each kind of object N times, with the same work in each run: mutexes,
 * recursive ones, too, a read-write lock, a spin lock, a semaphore, a barrier, a condition variable
 * and a sleep.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define N_THREADS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t items;
static int turn, n_rounds;

static void work(int n)
{
	for (volatile int i = 0; i < n * 100; i++)
		;
}

static void take_turn(int mine)
{
	pthread_mutex_lock(&queue);
	while (turn != mine)
		pthread_cond_wait(&changed, &queue);
	work(3);
	turn = (turn + 1) % N_THREADS;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&queue);
}

static void *run(void *arg)
{
	const struct timespec pause = {0, 100000};
	int mine = *(int *)arg;

	for (int i = 0; i < n_rounds; i++) {
		work(10);
		pthread_mutex_lock(&mutex);
		work(20);
		pthread_mutex_unlock(&mutex);
		pthread_mutex_lock(&recursive);
		pthread_mutex_lock(&recursive);
		work(2);
		pthread_mutex_unlock(&recursive);
		pthread_mutex_unlock(&recursive);
		if (pthread_mutex_trylock(&mutex) == 0)
			pthread_mutex_unlock(&mutex);
		if (i % 4 == 0)
			pthread_rwlock_wrlock(&rwlock);
		else
			pthread_rwlock_rdlock(&rwlock);
		work(5);
		pthread_rwlock_unlock(&rwlock);
		pthread_spin_lock(&spin);
		work(1);
		pthread_spin_unlock(&spin);
		sem_wait(&items);
		work(2);
		sem_post(&items);
		if (i % 10 == 0)
			nanosleep(&pause, NULL);
		take_turn(mine);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int numbers[N_THREADS];
	pthread_t threads[N_THREADS];

	n_rounds = argc > 1 ? atoi(argv[1]) : 100;
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_barrier_init(&barrier, NULL, N_THREADS);
	sem_init(&items, 0, 2);
	for (int i = 0; i < N_THREADS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, run, &numbers[i]);
	}
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
