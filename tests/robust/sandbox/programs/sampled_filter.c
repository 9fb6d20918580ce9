/* SPDX-License-Identifier: MIT */
/*
 * A filter that no library sees traps openat(); its handler returns an error.  Threads, one after
 * the other, call a function and use the CPU until they are sampled.  The samples of some thread
 * need a new part of a file, which the handler of the sample opens.
 *
 * usage: sampled_filter THREADS
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "robust/programs/raw_filter.h"

#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))
#define CPU_NS	   12000000

static volatile unsigned long n_handled, n_leaves;

__attribute__((noinline, noipa)) static void leaf(void)
{
	n_leaves++;
}

UNPROFILED static void handle(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)number;
	(void)info;
	n_handled++;
	leaf();
	interrupted->uc_mcontext.gregs[REG_RAX] = -EPERM;
}

UNPROFILED static void *run(void *arg)
{
	struct timespec used;

	leaf();
	do {
		for (volatile int i = 0; i < 10000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	} while (used.tv_sec == 0 && used.tv_nsec < CPU_NS);
	return arg;
}

UNPROFILED int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	long n_threads = argc == 2 ? atol(argv[1]) : 0;

	leaf();
	if (n_threads < 1 || sigaction(SIGSYS, &action, NULL) != 0 ||
	    raw_filter_install(code, sizeof(code) / sizeof(code[0])) != 0)
		return 2;
	for (long i = 0; i < n_threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, NULL) != 0 ||
		    pthread_join(thread, NULL) != 0)
			return 3;
	}
	printf("%d\n", n_leaves == 1 + (unsigned long)n_threads + n_handled);
	return 0;
}
