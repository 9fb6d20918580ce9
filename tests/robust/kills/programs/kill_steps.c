/* SPDX-License-Identifier: MIT */
/*
 * Three threads call functions and lock a mutex.  The process ends as soon as two of them are done,
 * at any step of the third.
 */
#include <sched.h>
#include <unistd.h>

#include "robust/programs/three_rounds.h"

static int n_through;

static void *thread(void *unused)
{
	three_rounds();
	__atomic_fetch_add(&n_through, 1, __ATOMIC_RELAXED);
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, thread, NULL) != 0)
			return 1;
	while (__atomic_load_n(&n_through, __ATOMIC_RELAXED) < 2)
		sched_yield();
	_exit(0);
}
