/* SPDX-License-Identifier: MIT */
/* A table under one lock; fixed: a lock for each of 64 buckets. */
#include "pair.h"

#define N_BUCKETS 64

static struct {
	pthread_mutex_t lock;
	int value;
} buckets[N_BUCKETS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *number)
{
	unsigned seed = 1 + *(int *)number;

	for (int i = 0; i < N_ROUNDS; i++) {
		pthread_mutex_t *lock = &table_lock;
		unsigned at;

		seed = seed * 1103515245 + 12345;
		at = seed >> 16 & (N_BUCKETS - 1);
		if (IS_FIXED)
			lock = &buckets[at].lock;
		work(10);
		pthread_mutex_lock(lock);
		work(40);
		buckets[at].value++;
		pthread_mutex_unlock(lock);
	}
	return NULL;
}

int main(void)
{
	for (int i = 0; i < N_BUCKETS; i++)
		pthread_mutex_init(&buckets[i].lock, NULL);
	return run_threads(run);
}
