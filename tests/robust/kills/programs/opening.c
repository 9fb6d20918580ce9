/* SPDX-License-Identifier: MIT */
/*
 * A forced signal interrupts the first event of a forked child: a filter that no library sees traps
 * getppid(), which the libraries call when a process begins its recording.
 *
 * usage: opening answer|jump|stall
 * answer: the handler locks a mutex, calls a function, and makes getppid() return an error.
 * jump: the handler leaves by siglongjmp().
 * stall: the handler starts another thread, which has its first event then, and waits for its end.
 *
 * Prints the status of each child; its exit status is the number of locks that its threads took.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "robust/programs/raw_filter.h"

#define N_CHILDREN 2
#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t handlers = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static sem_t posts;
static const char *how;
static unsigned n_locks;
static int has_stalled;
static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t may_jump;

NOINLINE void leaf(void)
{
	__asm__ volatile("");
}

UNPROFILED static void work(pthread_mutex_t *of)
{
	leaf();
	pthread_mutex_lock(of);
	__atomic_fetch_add(&n_locks, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(of);
}

/* Several rounds: the first may be interrupted, later ones use the state that it left. */
UNPROFILED static void *run(void *unused)
{
	for (int i = 0; i < 3; i++) {
		if (sigsetjmp(back, 1) == 0) {
			may_jump = 1;
			leaf();
			sem_post(&posts); /* no thread waits: a jump may prevent it */
		}
		may_jump = 0;
		work(&mutex);
	}
	return unused;
}

UNPROFILED static void handle(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;
	pthread_t thread;

	(void)number;
	(void)info;
	if (strcmp(how, "jump") == 0 && may_jump) {
		may_jump = 0;
		siglongjmp(back, 1);
	}
	if (strcmp(how, "stall") == 0 && !has_stalled) {
		has_stalled = 1;
		if (pthread_create(&thread, NULL, run, NULL) == 0)
			pthread_join(thread, NULL);
	}
	if (strcmp(how, "answer") == 0) {
		unsigned before = n_locks;

		work(&handlers);
		n_locks = before; /* in the bare program this handler does not run */
	}
	interrupted->uc_mcontext.gregs[REG_RAX] = -EPERM;
}

UNPROFILED static int install(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGSYS, &action, NULL);
	return raw_filter_install(code, sizeof(code) / sizeof(code[0]));
}

UNPROFILED static int in_child(void)
{
	pthread_t threads[2];

	run(NULL);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			return 3;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	/* Less the locks of the handler's thread, which the bare program does not have. */
	return (int)(n_locks - 3 * (unsigned)has_stalled);
}

UNPROFILED int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	how = argv[1];
	work(&mutex);
	n_locks = 0;
	if (install() != 0)
		return 77;
	for (int i = 0; i < (strcmp(how, "stall") == 0 ? 1 : N_CHILDREN); i++) {
		pid_t child = fork();
		int status;

		if (child == 0)
			_exit(in_child());
		if (waitpid(child, &status, 0) != child)
			return 4;
		printf("child: status 0x%x\n", (unsigned)status);
	}
	return 0;
}
