/* SPDX-License-Identifier: MIT */
/* A record is made and stored with the lock held; fixed: it is made before the lock is taken. */
#include "pair.h"

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int stored;

__attribute__((noinline)) static void append(void)
{
	if (IS_FIXED)
		work(40);
	pthread_mutex_lock(&log_lock);
	if (!IS_FIXED)
		work(40);
	work(10);
	stored++;
	pthread_mutex_unlock(&log_lock);
}

static void *run(void *number)
{
	(void)number;
	for (int i = 0; i < N_ROUNDS; i++)
		append();
	return NULL;
}

int main(void)
{
	return run_threads(run);
}
