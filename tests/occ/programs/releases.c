/* SPDX-License-Identifier: MIT */
/*
 * releases N: two threads increment a variable under a lock, N times each.  Every other time the
 * first one releases the lock, the second one is known to wait for it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define CONTENDED 2 /* value of glibc's mutex while a thread waits in the kernel */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, mark = PTHREAD_MUTEX_INITIALIZER;
static long counter, n_wanted, n_done;

static long get(const long *number)
{
	return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

static void add(long *number)
{
	__atomic_add_fetch(number, 1, __ATOMIC_RELEASE);
}

static void *follow(void *data)
{
	long n = *(const long *)data;

	for (long i = 0; i < n; i++) {
		while (get(&n_wanted) == i)
			sched_yield();
		pthread_mutex_lock(&lock);
		counter++;
		pthread_mutex_unlock(&lock);
		add(&n_done);
	}
	return NULL;
}

/* A volatile argument: the call sites are the same in both cases. */
static void lead(volatile int is_followed)
{
	long before = get(&n_done);

	pthread_mutex_lock(&lock);
	counter++;
	if (is_followed) {
		add(&n_wanted);
		while (__atomic_load_n(&lock.__data.__lock, __ATOMIC_RELAXED) != CONTENDED)
			sched_yield();
	}
	pthread_mutex_unlock(&lock);
	/* Ends the time of the release. */
	pthread_mutex_lock(&mark);
	pthread_mutex_unlock(&mark);
	while (is_followed && get(&n_done) == before)
		sched_yield();
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, follow, &n))
		return 1;
	for (long i = 0; i < 2 * n; i++)
		lead(i % 2 != 0);
	return pthread_join(thread, NULL) || counter != 3 * n;
}
