/* SPDX-License-Identifier: MIT */
/*
 * The program of paper 001's Figure 1: three threads increment a place of their own in an array
 * and, in every second iteration on average, a shared variable.  The variable and the array are in
 * different cache lines.
 *
 * In place of long computations, a thread stays in the section until others are about to enter it:
 * one of them, or mostly both; and it does not enter again before another one has.  So an
 * acquisition waits for others on machines with any number of CPUs and any load.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#define MAX_THREADS 3
#define ITERATIONS  1000

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int shared __attribute__((aligned(64)));
static volatile int64_t shared_array[MAX_THREADS] __attribute__((aligned(64)));

/* Not instrumented: they are no part of the program. */
static atomic_int n_arriving, n_active = MAX_THREADS, last_one = -1;

/* Its own numbers, the same in each run: heads are 49 %, as in the paper. */
static int toss_coin(uint64_t *state, unsigned heads_pct)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*state >> 33) % 100 < heads_pct;
}

__attribute__((no_sanitize("thread"))) static void think(int n_others)
{
	for (;;) {
		int others = atomic_load(&n_active) - 1;

		if (atomic_load(&n_arriving) >= (n_others < others ? n_others : others))
			break;
		sched_yield();
	}
	/* They have said so, and now call the lock's function. */
	for (int i = 0; i < 5; i++)
		sched_yield();
}

__attribute__((no_sanitize("thread"))) static void let_another_one_enter(int self)
{
	while (atomic_load(&last_one) == self && atomic_load(&n_active) > 1)
		sched_yield();
}

__attribute__((no_sanitize("thread"))) static void count(atomic_int *counter, int by)
{
	atomic_fetch_add(counter, by);
}

__attribute__((no_sanitize("thread"))) static void entered(int self)
{
	atomic_fetch_sub(&n_arriving, 1);
	atomic_store(&last_one, self);
}

static void *xwork(void *id)
{
	volatile int private_count = 0;
	intptr_t thread_id = (intptr_t)id;
	uint64_t coin = (uint64_t)thread_id + 1, others = (uint64_t)thread_id + 10;

	for (int i = 0; i < ITERATIONS; i++) {
		int inc_shared = toss_coin(&coin, 49);
		int n_others = 1 + toss_coin(&others, 63);

		count(&n_arriving, 1);
		pthread_rwlock_wrlock(&lock);
		entered((int)thread_id);
		private_count++;
		if (inc_shared)
			shared++;
		shared_array[thread_id]++;
		think(n_others);
		pthread_rwlock_unlock(&lock);
		let_another_one_enter((int)thread_id);
	}
	count(&n_active, -1);
	return NULL;
}

int main(void)
{
	pthread_t threads[MAX_THREADS];

	for (intptr_t i = 0; i < MAX_THREADS; i++)
		pthread_create(&threads[i], NULL, xwork, (void *)i);
	for (int i = 0; i < MAX_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
