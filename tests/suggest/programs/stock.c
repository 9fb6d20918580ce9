/* SPDX-License-Identifier: MIT */
/*
 * One lock for two numbers that have nothing in common, and two threads. FIXED: a lock for each.
 * BROKEN: a lock for each, but the section of one number also changes the other one, for which it
 * takes the other lock, too, in either order. APART: without the other lock. CONDITION: one lock,
 * of which one section signals a condition.
 */
#include <pthread.h>

#define N_ROUNDS 2000

static pthread_mutex_t stock_lock = PTHREAD_MUTEX_INITIALIZER;
#if defined FIXED || defined BROKEN || defined APART
static pthread_mutex_t orders_lock = PTHREAD_MUTEX_INITIALIZER;
#else
#define orders_lock stock_lock
#endif
static int stock, orders;
static pthread_cond_t ordered = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t start;

static void work(void)
{
	for (volatile int i = 0; i < 8000; i++)
		;
}

__attribute__((noinline)) static void deliver(void)
{
	pthread_mutex_lock(&stock_lock);
	work();
	stock++;
#ifdef APART
	orders--;
#endif
#ifdef BROKEN
	pthread_mutex_lock(&orders_lock);
	orders--;
	pthread_mutex_unlock(&orders_lock);
#endif
	pthread_mutex_unlock(&stock_lock);
}

__attribute__((noinline)) static void order(void)
{
	pthread_mutex_lock(&orders_lock);
	work();
	orders++;
#ifdef CONDITION
	pthread_cond_signal(&ordered);
#endif
	pthread_mutex_unlock(&orders_lock);
}

#ifdef BROKEN
/* While the other thread does not run, so that there is no deadlock. */
__attribute__((noinline)) static void count(void)
{
	pthread_mutex_lock(&orders_lock);
	orders++;
	pthread_mutex_lock(&stock_lock);
	pthread_mutex_unlock(&stock_lock);
	pthread_mutex_unlock(&orders_lock);
}
#else
static void count(void)
{
}
#endif

static void *run_deliver(void *none)
{
	pthread_barrier_wait(&start);
	for (int i = 0; i < N_ROUNDS; i++)
		deliver();
	pthread_barrier_wait(&start);
	return none;
}

static void *run_order(void *none)
{
	pthread_barrier_wait(&start);
	for (int i = 0; i < N_ROUNDS; i++)
		order();
	pthread_barrier_wait(&start);
	count();
	return none;
}

int main(void)
{
	void *(*const run[])(void *) = {run_deliver, run_order};
	pthread_t threads[2];

	pthread_barrier_init(&start, NULL, 2);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run[i], NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
