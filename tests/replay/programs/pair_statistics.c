/* SPDX-License-Identifier: MIT */
/* Each thread's sums are under one lock; fixed: none is needed. */
#include "pair.h"

static pthread_mutex_t sums_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	long sum;
	char pad[120];
} sums[N_THREADS];

static void *run(void *number)
{
	int mine = *(int *)number;

	for (int i = 0; i < N_ROUNDS; i++) {
		work(20);
		if (!IS_FIXED)
			pthread_mutex_lock(&sums_lock);
		work(30);
		sums[mine].sum += i;
		if (!IS_FIXED)
			pthread_mutex_unlock(&sums_lock);
	}
	return NULL;
}

int main(void)
{
	return run_threads(run);
}
