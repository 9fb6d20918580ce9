/* SPDX-License-Identifier: MIT */
/*
 * In each section, a thread sums up 40 numbers of its own, changes two shared ones, and sums up 58
 * of its own: of 100 accesses at least, the conflicts are two in a row, behind two fifths.
 */
#include "pair.h"

#define N_NUMBERS 128

static pthread_mutex_t middle_lock = PTHREAD_MUTEX_INITIALIZER;
extern long shared[2]; /* so that the stores stay */
long shared[2] __attribute__((aligned(64)));
static struct {
	long numbers[N_NUMBERS], sum;
} own[N_THREADS] __attribute__((aligned(64)));

__attribute__((noinline)) static long add_up(const long *numbers, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += numbers[i];
	return sum;
}

static void *run(void *number)
{
	int self = *(int *)number;

	for (int i = 0; i < N_ROUNDS; i++) {
		long sum;

		pthread_mutex_lock(&middle_lock);
		sum = add_up(own[self].numbers, 40);
		shared[0] = i;
		shared[1] = i;
		sum += add_up(own[self].numbers, 58);
		pthread_mutex_unlock(&middle_lock);
		own[self].sum += sum;
	}
	return NULL;
}

int main(void)
{
	return run_threads(run);
}
