/* SPDX-License-Identifier: MIT */
/*
 * relocked [other]: a thread unlocks a mutex for which another one sleeps, and locks it again, with
 * another mutex in between or not, before that one can run: both have the same CPU, and the other
 * one does not preempt, by its policy. So it waits for both holds, although the mutex does not show
 * it at the second release. Exit status 3: the other thread ran between the holds after all, since
 * a third program wanted the CPU.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "unit/check.h"
#include "unit/sleeper.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other_lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_other;
static int waiter;
static bool has_run;	 /* the waiter has had the lock */
static bool ran_between; /* and had it before the second hold */

static void *wait_for_lock(void *data)
{
	struct sched_param none = {0};

	CHECK_INT(sched_setscheduler(0, SCHED_IDLE, &none), 0);
	__atomic_store_n(&waiter, gettid(), __ATOMIC_RELEASE);
	CHECK_INT(pthread_mutex_lock(&lock), 0);
	has_run = true;
	CHECK_INT(pthread_mutex_unlock(&lock), 0);
	return data;
}

/* Starts the waiter if `thread` is not NULL. */
static __attribute__((noipa)) void lock_twice(pthread_t *thread)
{
	CHECK_INT(pthread_mutex_lock(&lock), 0);
	if (thread) {
		CHECK_INT(pthread_create(thread, NULL, wait_for_lock, NULL), 0);
		CHECK(sleeper_await(&waiter));
	}
	CHECK_INT(pthread_mutex_unlock(&lock), 0);
	if (has_other) {
		CHECK_INT(pthread_mutex_lock(&other_lock), 0);
		CHECK_INT(pthread_mutex_unlock(&other_lock), 0);
	}
	CHECK_INT(pthread_mutex_lock(&lock), 0);
	ran_between = has_run;
	CHECK_INT(pthread_mutex_unlock(&lock), 0);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	cpu_set_t one;

	(void)argv;
	has_other = argc > 1;
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	CHECK_INT(sched_setaffinity(0, sizeof(one), &one), 0);
	lock_twice(NULL); /* new call sites take other paths of the library */
	lock_twice(NULL);
	lock_twice(&thread);
	CHECK_INT(pthread_join(thread, NULL), 0);
	return ran_between ? 3 : 0;
}
