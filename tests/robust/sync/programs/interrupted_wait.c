/* SPDX-License-Identifier: MIT */
/*
 * interrupted_wait HOW: a wait for a mutex ends in an unusual way.  After it, the mutex is locked
 * and unlocked PAIRS times without contention, and once while another thread waits for it.
 *
 * none: there is no wait before.
 * prefork: the first operation of a forked child waits for a mutex that its parent holds.
 * handler: a signal handler forks during the wait, and the child returns from the handler.
 * jump: a handler leaves the wait by siglongjmp().
 * cancel: the thread is cancelled asynchronously during the wait.
 * exit: a handler leaves the wait by pthread_exit().
 *
 * Prints the process id and the address of the mutex of the operations after the wait.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAIRS	   100000
#define FUTEX_WAIT 2 /* the value of glibc's futex word while other threads sleep */

static pthread_mutex_t *mutex, other = PTHREAD_MUTEX_INITIALIZER;
static const char *how;
static sigjmp_buf before;
static pid_t parent;
static volatile pid_t child;

static bool is(const char *name)
{
	return strcmp(how, name) == 0;
}

static void wait_for_waiter(void)
{
	while (__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) != FUTEX_WAIT)
		sched_yield();
}

static void *waits_usually(void *arg)
{
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	return arg;
}

/* The operations that the test checks. */
static void follow(void)
{
	pthread_t thread;

	for (int i = 0; i < PAIRS; i++) {
		pthread_mutex_lock(mutex);
		pthread_mutex_unlock(mutex);
	}
	pthread_mutex_lock(mutex);
	pthread_create(&thread, NULL, waits_usually, NULL);
	wait_for_waiter();
	pthread_mutex_unlock(mutex);
	pthread_join(thread, NULL);
	printf("%d %p\n", (int)getpid(), (void *)mutex);
	fflush(stdout);
}

static void handler(int number)
{
	(void)number;
	if (is("jump"))
		siglongjmp(before, 1);
	if (is("exit"))
		pthread_exit(NULL);
	child = fork();
	if (child != 0)
		return;
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
}

static void wait_until(int seconds)
{
	struct timespec deadline;

	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += seconds;
	if (pthread_mutex_timedlock(mutex, &deadline) == 0)
		pthread_mutex_unlock(mutex);
}

static void *waits(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	if (sigsetjmp(before, 1) != 0)
		return arg;
	if (is("handler"))
		wait_until(1);
	else
		pthread_mutex_lock(mutex);
	if (getpid() != parent) {
		pthread_mutex_init(mutex, NULL); /* its owner does not exist here */
		follow();
		_exit(0);
	}
	return arg;
}

static int prefork(void)
{
	int status;

	if (fork() == 0) {
		pthread_mutex_lock(mutex);
		pthread_mutex_unlock(mutex);
		follow();
		_exit(0);
	}
	wait_for_waiter();
	pthread_mutex_unlock(mutex);
	return wait(&status) > 0 && status == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t attributes;
	pthread_t thread;
	int status = 0;

	if (argc != 2)
		return 2;
	how = argv[1];
	parent = getpid();
	signal(SIGUSR1, handler);
	/* Only with prefork do parent and child share the mutex. */
	mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     (is("prefork") ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
	if (mutex == MAP_FAILED)
		return 1;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, is("prefork"));
	pthread_mutex_init(mutex, &attributes);
	if (is("none")) {
		follow();
		return 0;
	}
	pthread_mutex_lock(mutex);
	if (is("prefork"))
		return prefork();
	pthread_create(&thread, NULL, waits, NULL);
	wait_for_waiter();
	if (is("cancel"))
		pthread_cancel(thread);
	else
		pthread_kill(thread, SIGUSR1);
	if (is("handler"))
		while (child == 0)
			sched_yield();
	else
		pthread_join(thread, NULL);
	pthread_mutex_unlock(mutex);
	if (is("handler")) {
		pthread_join(thread, NULL);
		return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
	}
	follow();
	return 0;
}
