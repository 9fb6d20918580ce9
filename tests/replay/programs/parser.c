/* SPDX-License-Identifier: MIT */
/*
 * Threads parse without a lock, and store with it. parse() and the function that it calls take two
 * thirds of the CPU time; with -DFIXED, half of that.
 */
#include "pair.h"

static pthread_mutex_t store_lock = PTHREAD_MUTEX_INITIALIZER;
static int stored;

__attribute__((noinline)) static void scan(void)
{
	work(IS_FIXED ? 20 : 40);
}

__attribute__((noinline)) static void parse(void)
{
	work(IS_FIXED ? 20 : 40);
	scan();
}

__attribute__((noinline)) static void store(void)
{
	pthread_mutex_lock(&store_lock);
	work(10);
	stored++;
	pthread_mutex_unlock(&store_lock);
	work(30);
}

static void *run(void *number)
{
	(void)number;
	for (int i = 0; i < N_ROUNDS; i++) {
		parse();
		store();
	}
	return NULL;
}

int main(void)
{
	return run_threads(run);
}
