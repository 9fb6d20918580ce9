/* SPDX-License-Identifier: MIT */
/*
 * Critical sections that call code without hooks: functions of libraries, and of a file that is
 * compiled with -DPLAIN and without them.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

double plain(double x);

#ifdef PLAIN
double plain(double x)
{
	return x / 3;
}
#else
#define N_ROUNDS    300
#define N_OWN	    8
#define NOT_INLINED __attribute__((noinline))

static pthread_mutex_t long_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t null_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start;
static _Alignas(64) int shared;
static _Alignas(64) double own[2][N_OWN];

static int compare(const void *a, const void *b)
{
	return *(const double *)a > *(const double *)b;
}

NOT_INLINED static double recorded(double x)
{
	return x * x;
}

NOT_INLINED static double helper(double x)
{
	return sin(x) + recorded(x);
}

NOT_INLINED static void work(void)
{
	for (volatile int i = 0; i < 200000; i++)
		;
}

NOT_INLINED static void use_long(int me, double x)
{
	pthread_mutex_lock(&long_lock);
	own[me][0] = recorded(x);
	own[me][1] = helper(x);				   /* calls sin */
	qsort(own[me], N_OWN, sizeof(own[0][0]), compare); /* calls qsort */
	memset(&own[me][3], 0, sizeof(own[0][0]));
	own[me][4] = plain(x); /* calls plain */
	shared++;
	shared += (int)cos(x); /* stays */
	pthread_mutex_unlock(&long_lock);
}

NOT_INLINED static void use_null(int me, double x)
{
	pthread_mutex_lock(&null_lock);
	work();
	own[me][5] = tan(x); /* calls tan */
	pthread_mutex_unlock(&null_lock);
}

static void *run(void *is_second)
{
	pthread_barrier_wait(&start);
	for (int i = 0; i < N_ROUNDS; i++) {
		use_long(is_second != NULL, i);
		use_null(is_second != NULL, i);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&start, NULL, 2);
	if (pthread_create(&thread, NULL, run, &shared))
		return 1;
	run(NULL);
	pthread_join(thread, NULL);
	return 0;
}
#endif
