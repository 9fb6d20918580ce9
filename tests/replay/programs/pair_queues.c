/* SPDX-License-Identifier: MIT */
/* One lock for two lists that have nothing in common; fixed: a lock for each. */
#include "pair.h"

static pthread_mutex_t lists_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t done_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_free, n_done;

__attribute__((noinline)) static void add_free(void)
{
	pthread_mutex_lock(&lists_lock);
	work(40);
	n_free++;
	pthread_mutex_unlock(&lists_lock);
}

__attribute__((noinline)) static void add_done(void)
{
	pthread_mutex_lock(IS_FIXED ? &done_lock : &lists_lock);
	work(40);
	n_done++;
	pthread_mutex_unlock(IS_FIXED ? &done_lock : &lists_lock);
}

static void *run(void *number)
{
	int mine = *(int *)number;

	for (int i = 0; i < N_ROUNDS; i++) {
		work(10);
		if (mine == 0)
			add_free();
		else
			add_done();
	}
	return NULL;
}

int main(void)
{
	return run_threads(run);
}
