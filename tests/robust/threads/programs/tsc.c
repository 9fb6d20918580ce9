/* SPDX-License-Identifier: MIT */
/*
 * tsc main|early|thread|switch|strict|strict-seccomp ROUNDS: locks a mutex while the TSC must not
 * be read.  In the first four modes, PR_SET_TSC makes a read of the TSC raise SIGSEGV; in the last
 * two, strict seccomp kills the thread on any system call except read(), write(), _exit() and
 * sigreturn().
 */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static unsigned long n_work;
static long rounds;

NOINLINE static void leaf(void)
{
	__asm__ volatile("");
}

NOINLINE static void late(void)
{
	leaf();
}

NOINLINE static void work(void)
{
	pthread_mutex_lock(&shared);
	n_work++;
	leaf();
	pthread_mutex_unlock(&shared);
}

UNPROFILED static void forbid(void)
{
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
		_exit(3);
}

UNPROFILED static void permit(void)
{
	if (syscall(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) != 0)
		_exit(4);
}

/* Runs only if the test sets TSC_EARLY; it forbids the TSC before main() begins. */
__attribute__((constructor)) UNPROFILED static void early(void)
{
	if (getenv("TSC_EARLY") != NULL)
		forbid();
}

UNPROFILED static void *run(void *unused)
{
	for (long i = 0; i < rounds; i++)
		work();
	return unused;
}

UNPROFILED static void *run_forbidden(void *unused)
{
	forbid();
	run(unused);
	late();
	return unused;
}

UNPROFILED static void *run_switching(void *unused)
{
	for (int i = 0; i < 20; i++) {
		run(unused);
		forbid();
		run(unused);
		permit();
	}
	return unused;
}

/* A thread in strict seccomp can only end by the system call exit. */
UNPROFILED static void *run_strict(void *how)
{
	static const char text[] = "strict\n";
	long result;

	run(NULL);
	if (strcmp(how, "strict") == 0)
		result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	else
		result = syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
	if (result != 0)
		_exit(5);
	run(NULL);
	late();
	if (write(1, text, sizeof(text) - 1) < 0)
		syscall(SYS_exit, 1);
	syscall(SYS_exit, 0);
	return NULL;
}

UNPROFILED static void in_threads(void *(*routine)(void *), void *arg)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, routine, arg) != 0 ||
		    pthread_join(threads[i], NULL) != 0)
			_exit(6);
}

UNPROFILED int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[1] : "";

	rounds = argc > 2 ? atol(argv[2]) : 0;
	run(NULL);
	if (strcmp(way, "main") == 0 || strcmp(way, "early") == 0) {
		forbid();
		run(NULL);
		late();
		in_threads(run, NULL);
	} else if (strcmp(way, "thread") == 0) {
		in_threads(run_forbidden, NULL);
		in_threads(run, NULL);
	} else if (strcmp(way, "switch") == 0) {
		in_threads(run_switching, NULL);
	} else {
		run_strict(argv[1]);
	}
	printf("work %lu\n", n_work);
	return 0;
}
