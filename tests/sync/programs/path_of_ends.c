/* SPDX-License-Identifier: MIT */
/*
 * Waits that are ended along known call paths: by the release of a spin lock, and by the ends of
 * threads, each while main() sleeps in its join. Threads end by return, by pthread_exit(), by
 * thrd_exit(), and by cancellation in a wait.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "wait_blocked.h"

#define APART	__attribute__((noinline, noclone))
#define SPIN_NS 5000000

static atomic_int tid, main_tid, calls;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem;
static pthread_t target;
static int no_input[2];

/* --- a spin lock ------------------------------------------------------------------------------ */

APART static void spin_take(void)
{
	pthread_spin_lock(&spin);
	calls++;
}

APART static void spin_release(void)
{
	pthread_spin_unlock(&spin);
	calls++;
}

static void *spins(void *arg)
{
	tid = gettid();
	spin_take();
	pthread_spin_unlock(&spin);
	return arg;
}

static int64_t cpu_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* The thread spins: it uses CPU time after it has begun. */
static void until_spinning(pthread_t thread)
{
	clockid_t clock;
	int64_t begin_ns;

	while (tid == 0)
		;
	assert(pthread_getcpuclockid(thread, &clock) == 0);
	begin_ns = cpu_ns(clock);
	while (cpu_ns(clock) < begin_ns + SPIN_NS)
		;
}

static void test_spin(void)
{
	pthread_t thread;

	pthread_spin_init(&spin, 0);
	for (int i = 0; i < 3; i++) { /* nobody waits */
		pthread_spin_lock(&spin);
		pthread_spin_unlock(&spin);
	}
	pthread_spin_lock(&spin);
	assert(pthread_create(&thread, NULL, spins, NULL) == 0);
	until_spinning(thread);
	spin_release();
	pthread_join(thread, NULL);
}

/* --- ends of threads -------------------------------------------------------------------------- */

static void until_joined(void *unused)
{
	(void)unused;
	until_asleep(main_tid);
}

static void *returns(void *arg)
{
	until_joined(NULL);
	return arg;
}

APART static void leave(void)
{
	pthread_exit(NULL);
	calls++;
}

static void *exits(void *arg)
{
	pthread_cleanup_push(until_joined, NULL);
	leave();
	calls++;
	pthread_cleanup_pop(0);
	return arg;
}

APART static void leave_c11(void)
{
	thrd_exit(7);
	calls++;
}

static int exits_c11(void *unused)
{
	(void)unused;
	pthread_cleanup_push(until_joined, NULL);
	leave_c11();
	calls++;
	pthread_cleanup_pop(0);
	return 0;
}

APART static void await_cond(void)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&cond, &mutex);
	calls++;
}

APART static void await_sem(void)
{
	sem_wait(&sem);
	calls++;
}

APART static void await_thread(void)
{
	pthread_join(target, NULL);
	calls++;
}

APART static void await_input(void)
{
	char byte;

	calls += (int)read(no_input[0], &byte, 1);
}

static void *cancelled(void *arg)
{
	pthread_cleanup_push(until_joined, NULL);
	tid = gettid();
	((void (*)(void))arg)();
	calls++;
	pthread_cleanup_pop(0);
	return arg;
}

static void test_cancel(void (*wait)(void))
{
	pthread_t thread;

	tid = 0;
	assert(pthread_create(&thread, NULL, cancelled, (void *)wait) == 0);
	while (tid == 0)
		;
	until_asleep(tid);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

static atomic_int is_over;

static void *until_over(void *arg)
{
	while (!is_over)
		;
	return arg;
}

static void test_ends(void)
{
	pthread_t thread;
	thrd_t thread_c11;

	main_tid = gettid();
	assert(pipe(no_input) == 0);
	sem_init(&sem, 0, 0);
	assert(pthread_create(&thread, NULL, returns, NULL) == 0);
	pthread_join(thread, NULL);
	assert(pthread_create(&thread, NULL, exits, NULL) == 0);
	pthread_join(thread, NULL);
	assert(thrd_create(&thread_c11, exits_c11, NULL) == thrd_success);
	thrd_join(thread_c11, NULL);
	test_cancel(await_cond);
	test_cancel(await_sem);
	test_cancel(await_input);
	assert(pthread_create(&target, NULL, until_over, NULL) == 0);
	test_cancel(await_thread);
	pthread_detach(target);
	is_over = 1;
}

int main(void)
{
	test_spin();
	test_ends();
	return 9;
}
