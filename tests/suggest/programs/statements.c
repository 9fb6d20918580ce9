/* SPDX-License-Identifier: MIT */
/*
 * Critical sections whose lines that need no lock are whole statements, or parts of them.  Two
 * threads take turns, so that each section of one follows one of the other.
 */
#include <pthread.h>

#define N_ROUNDS    20
#define NOT_INLINED __attribute__((noinline))
#define SHAPES	    X(loop) X(spread) X(branches) X(tail) X(leaves) X(order) X(half)

static volatile int zero;
static pthread_barrier_t turn;

#define X(name)                                                                                    \
	static pthread_mutex_t name##_lock = PTHREAD_MUTEX_INITIALIZER;                            \
	static _Alignas(64) int name##_count;
SHAPES
#undef X

NOT_INLINED static void work(int n)
{
	for (volatile int i = 0; i < n; i++)
		;
}

NOT_INLINED static void loop(int n)
{
	pthread_mutex_lock(&loop_lock);
	for (int i = 0; i < n; i++) /* loop: first */
		work(i);	    /* loop: last */
	loop_count++;
	pthread_mutex_unlock(&loop_lock);
}

NOT_INLINED static void spread(int n)
{
	pthread_mutex_lock(&spread_lock);
	for (int i = 0; /* spread: first */
	     i < n; i++) {
		if (i % 2)
			work(i);
		else
			work(2 * i);
	} /* spread: last */
	spread_count++;
	pthread_mutex_unlock(&spread_lock);
}

/* One branch has to stay. */
NOT_INLINED static void branches(int n)
{
	pthread_mutex_lock(&branches_lock);
	if (n % 2)
		work(n);
	else
		branches_count++;
	pthread_mutex_unlock(&branches_lock);
}

NOT_INLINED static void tail(int n)
{
	pthread_mutex_lock(&tail_lock);
	tail_count++;
	if (n % 2) /* tail: first */
		work(n);
	else
		work(2 * n); /* tail: last */
	pthread_mutex_unlock(&tail_lock);
}

/* The first statement leaves the section. */
NOT_INLINED static void leaves(int n)
{
	pthread_mutex_lock(&leaves_lock);
	if (zero) {
		work(n);
		pthread_mutex_unlock(&leaves_lock);
		return;
	}
	leaves_count++;
	pthread_mutex_unlock(&leaves_lock);
}

/* The statements behind one that stays cannot come before it. */
NOT_INLINED static void order(int n)
{
	pthread_mutex_lock(&order_lock);
	if (n % 2)
		order_count++;
	else
		work(n);
	work(n);
	order_count++;
	pthread_mutex_unlock(&order_lock);
}

/* The loop's head is executed after the access. */
NOT_INLINED static void half(int n)
{
	pthread_mutex_lock(&half_lock);
	for (int i = 0; i < n; i++) {
		work(i);
		half_count++;
	}
	pthread_mutex_unlock(&half_lock);
}

static void execute(int n)
{
#define X(name) name(n);
	SHAPES
#undef X
}

static void *run(void *is_second)
{
	for (int n = 1; n <= N_ROUNDS; n++) {
		if (is_second)
			pthread_barrier_wait(&turn);
		execute(n);
		if (!is_second)
			pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&turn, NULL, 2);
	if (pthread_create(&thread, NULL, run, &turn))
		return 1;
	run(NULL);
	pthread_join(thread, NULL);
	return 0;
}
