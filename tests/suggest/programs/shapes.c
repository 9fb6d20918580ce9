/* SPDX-License-Identifier: MIT */
/*
 * Critical sections of several shapes, each under a lock of its own.  Two threads execute one shape
 * after the other, both the same one.
 */
#include <pthread.h>

#ifndef N_ITERATIONS
#define N_ROUNDS     240
#define N_ITERATIONS 600000
#else
#define N_ROUNDS 40
#endif

#define SHAPES X(edges) X(looped) X(branched) X(called) X(unseen) X(nested) X(full)

#define X(name)                                                                                    \
	static pthread_mutex_t name##_lock = PTHREAD_MUTEX_INITIALIZER;                            \
	static int name##_count;
SHAPES
#undef X
static int edges_total;
static pthread_mutex_t inner_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int is_odd_machine;
static pthread_barrier_t start;

__attribute__((noinline)) static void work(void)
{
	for (volatile int i = 0; i < N_ITERATIONS; i++)
		;
}

__attribute__((noinline)) static void add_one(int *count)
{
	++*count;
}

__attribute__((noinline)) static void edges(int number)
{
	(void)number;
	pthread_mutex_lock(&edges_lock);
	work(); /* edges before */
	edges_count++;
	edges_total += edges_count;
	work(); /* edges behind */
	pthread_mutex_unlock(&edges_lock);
}

/* The lines in the loop are executed before an access and after another one. */
__attribute__((noinline)) static void looped(int number)
{
	(void)number;
	pthread_mutex_lock(&looped_lock);
	for (int i = 0; i < 2; i++) {
		work();
		looped_count++;
	}
	pthread_mutex_unlock(&looped_lock);
}

__attribute__((noinline)) static void branched(int number)
{
	pthread_mutex_lock(&branched_lock);
	if (number % 2) {
		work(); /* branched alone */
	} else {
		work(); /* branched before */
		branched_count++;
		work(); /* branched behind */
	}
	pthread_mutex_unlock(&branched_lock);
}

__attribute__((noinline)) static void called(int number)
{
	(void)number;
	pthread_mutex_lock(&called_lock);
	work();			/* called before */
	add_one(&called_count); /* called stays */
	pthread_mutex_unlock(&called_lock);
}

__attribute__((noinline)) static void unseen(int number)
{
	(void)number;
	pthread_mutex_lock(&unseen_lock);
	if (is_odd_machine)
		work(); /* unseen not executed */
	work();		/* unseen before */
	unseen_count++;
	pthread_mutex_unlock(&unseen_lock);
}

__attribute__((noinline)) static void nested(int number)
{
	(void)number;
	pthread_mutex_lock(&nested_lock);
	work(); /* nested before */
	pthread_mutex_lock(&inner_lock);
	pthread_mutex_unlock(&inner_lock);
	work();
	nested_count++;
	pthread_mutex_unlock(&nested_lock);
}

/* Most of its time is between the first access and the last one. */
__attribute__((noinline)) static void full(int number)
{
	(void)number;
	pthread_mutex_lock(&full_lock);
	full_count++;
	work();
	full_count++;
	pthread_mutex_unlock(&full_lock);
}

static void *run(void *none)
{
	static void (*const shapes[])(int number) = {edges,  looped, branched, called,
						     unseen, nested, full};

	for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		pthread_barrier_wait(&start);
		for (int number = 0; number < N_ROUNDS; number++)
			shapes[i](number);
	}
	return none;
}

int main(void)
{
	pthread_t threads[2];

	pthread_barrier_init(&start, NULL, 2);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
