/* SPDX-License-Identifier: MIT */
/*
 * A generated program: random_locks SEED N_THREADS N_STEPS. Each thread performs operations that
 * its seed chooses, on locks that it takes in a global order: nested mutexes, tries, timed locks,
 * read-write locks, spin locks, conditions, semaphores and barriers. What it does next never
 * depends on another thread, but the values that it computes depend on the order of all
 * acquisitions, and are printed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST	8
#define THREADS 16

static pthread_mutex_t mutexes[MOST];
static pthread_rwlock_t rwlocks[MOST];
static pthread_spinlock_t spins[MOST];
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t tokens;
static uint64_t values[3][MOST], queue_value, tried;
static int n_threads, n_steps, turn;
static unsigned seed;
static pthread_t threads[THREADS];

struct worker {
	uint64_t random, seen;
	int number;
};

static struct worker workers[THREADS];

static unsigned draw(struct worker *self, unsigned n)
{
	self->random = self->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(self->random >> 33) % n;
}

static void mix(uint64_t *value, const struct worker *self)
{
	*value = *value * 31 + (uint64_t)self->number + 1;
}

static struct timespec after_ms(long ms)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += ms % 1000 * 1000000;
	at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

static void lock_nested(struct worker *self)
{
	unsigned first = draw(self, MOST), n = 1 + draw(self, MOST - first);

	for (unsigned i = first; i < first + n; i++) {
		pthread_mutex_lock(&mutexes[i]);
		mix(&values[0][i], self);
	}
	for (unsigned i = first + n; i-- > first;)
		pthread_mutex_unlock(&mutexes[i]);
}

static void try_lock(struct worker *self)
{
	unsigned i = draw(self, MOST);

	if (pthread_mutex_trylock(&mutexes[i]) == 0) {
		mix(&values[0][i], self);
		pthread_mutex_unlock(&mutexes[i]);
	} else {
		__atomic_fetch_add(&tried, 1, __ATOMIC_RELAXED);
	}
}

/* A time that is late enough, or one that is over. */
static void lock_until(struct worker *self)
{
	unsigned i = draw(self, MOST);
	struct timespec at = after_ms(draw(self, 2) ? 100000 : -1);

	if (pthread_mutex_timedlock(&mutexes[i], &at) != 0) {
		__atomic_fetch_add(&tried, 1, __ATOMIC_RELAXED);
		return;
	}
	mix(&values[0][i], self);
	pthread_mutex_unlock(&mutexes[i]);
}

static void lock_rwlock(struct worker *self)
{
	unsigned i = draw(self, MOST), how = draw(self, 5);

	if (how == 0) {
		pthread_rwlock_wrlock(&rwlocks[i]);
		mix(&values[1][i], self);
	} else if (how == 1 && pthread_rwlock_tryrdlock(&rwlocks[i]) != 0) {
		return;
	} else if (how > 1) {
		pthread_rwlock_rdlock(&rwlocks[i]);
	}
	if (how > 0)
		mix(&self->seen, &(struct worker){.number = (int)(values[1][i] & 0xffff)});
	pthread_rwlock_unlock(&rwlocks[i]);
}

static void lock_spin(struct worker *self)
{
	unsigned i = draw(self, MOST);

	pthread_spin_lock(&spins[i]);
	mix(&values[2][i], self);
	pthread_spin_unlock(&spins[i]);
}

static void wait_in_vain(struct worker *self)
{
	struct timespec at = after_ms(1);

	pthread_mutex_lock(&queue);
	while (pthread_cond_timedwait(&never, &queue, &at) != ETIMEDOUT)
		;
	mix(&queue_value, self);
	pthread_mutex_unlock(&queue);
}

/* All threads in turn, and then together. */
static void meet(struct worker *self)
{
	pthread_mutex_lock(&queue);
	while (turn % n_threads != self->number)
		pthread_cond_wait(&turned, &queue);
	turn++;
	mix(&queue_value, self);
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&queue);
	sem_post(&tokens);
	sem_wait(&tokens);
	pthread_barrier_wait(&barrier);
}

static void *work(void *argument)
{
	static void (*const kinds[])(struct worker *) = {lock_nested, try_lock,	 lock_until,
							 lock_rwlock, lock_spin, lock_nested};
	struct worker *self = argument;

	/* Half of the threads are made by others. */
	if (self->number * 2 + 1 < n_threads && self->number > 0)
		pthread_create(&threads[self->number * 2 + 1], NULL, work,
			       &workers[self->number * 2 + 1]);
	for (int step = 0; step < n_steps; step++) {
		kinds[draw(self, 6)](self);
		if (draw(self, 200) == 0)
			wait_in_vain(self);
		if (step % 25 == 0)
			meet(self);
	}
	pthread_barrier_wait(&barrier);
	return NULL;
}

static int is_made_by_other(int i)
{
	return i % 2 == 1 && i / 2 > 0 && (i - 1) / 2 * 2 + 1 == i && (i - 1) / 2 < n_threads;
}

int main(int argc, char **argv)
{
	seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	n_threads = argc > 2 ? atoi(argv[2]) : 4;
	n_steps = argc > 3 ? atoi(argv[3]) : 100;
	if (n_threads < 1 || n_threads > THREADS)
		return 2;
	pthread_barrier_init(&barrier, NULL, (unsigned)n_threads);
	sem_init(&tokens, 0, 0);
	for (int i = 0; i < MOST; i++) {
		pthread_mutex_init(&mutexes[i], NULL);
		pthread_rwlock_init(&rwlocks[i], NULL);
		pthread_spin_init(&spins[i], 0);
	}
	for (int i = 0; i < n_threads; i++)
		workers[i] = (struct worker){.number = i, .random = seed * 1000003u + (unsigned)i};
	for (int i = 1; i < n_threads; i++)
		if (!is_made_by_other(i))
			pthread_create(&threads[i], NULL, work, &workers[i]);
	work(&workers[0]);
	for (int i = 1; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	printf("%llu %llu", (unsigned long long)queue_value, (unsigned long long)tried);
	for (int i = 0; i < 3 * MOST; i++)
		printf(" %llx", (unsigned long long)values[i / MOST][i % MOST]);
	for (int i = 0; i < n_threads; i++)
		printf(" %llx", (unsigned long long)workers[i].seen);
	putchar('\n');
	return 0;
}
