/* SPDX-License-Identifier: MIT */
/*
 * Traps one system call by a seccomp filter.  Its SIGSYS handler locks, calls functions compiled
 * with -pg, and then returns an error from the system call or jumps out of the caller.
 *
 * usage: trapped NUMBER answer|jump|errno|kill ROUNDS [raw]
 * raw: installs the filter by a syscall instruction of the program, which no library sees.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "robust/programs/raw_filter.h"

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t handlers = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static unsigned long n_work, n_trapped;
static long trapped_number;
static int jumps;
static void (*plug)(void); /* of a library that was loaded before */
static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t may_jump;

NOINLINE static void leaf(void)
{
	__asm__ volatile("");
}

NOINLINE static void in_handler(void)
{
	pthread_mutex_lock(&handlers);
	n_trapped++;
	leaf();
	pthread_mutex_unlock(&handlers);
}

UNPROFILED static void handle(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)number;
	(void)info;
	in_handler();
	if (jumps && may_jump) {
		may_jump = 0;
		siglongjmp(back, 1);
	}
	interrupted->uc_mcontext.gregs[REG_RAX] = -EPERM;
}

/* Many different functions, so that tables grow. */
/* clang-format off */
#define F(n) NOINLINE static void f##n(void) { leaf(); }
#define F8(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)
#define CALL8(n) f##n##0(); f##n##1(); f##n##2(); f##n##3(); f##n##4(); f##n##5(); f##n##6(); f##n##7();
F8(1) F8(2) F8(3) F8(4) F8(5) F8(6) F8(7)
    /* clang-format on */

    NOINLINE static void work(void)
{
	pthread_mutex_lock(&shared);
	n_work++;
	leaf();
	pthread_mutex_unlock(&shared);
}

UNPROFILED static void round_of_work(void)
{
	work();
	CALL8(1) CALL8(2) CALL8(3) CALL8(4) CALL8(5) CALL8(6) CALL8(7) work();
}

UNPROFILED static void *run(void *rounds)
{
	for (long i = 0; i < (long)rounds; i++) {
		if (sigsetjmp(back, 1) == 0) {
			may_jump = 1;
			leaf(); /* the first call of a thread */
			may_jump = 0;
		}
		round_of_work();
	}
	if (plug != NULL)
		plug();
	return NULL;
}

UNPROFILED static void install(unsigned action, int is_raw)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)trapped_number, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, action),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	unsigned short n = sizeof(code) / sizeof(code[0]);
	struct sock_fprog program = {n, code};

	if (is_raw && raw_filter_install(code, n) != 0)
		exit(2);
	if (!is_raw && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0))
		exit(2);
}

UNPROFILED int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};
	pthread_t threads[4];
	long rounds;
	unsigned filter_action = SECCOMP_RET_TRAP;
	void *library = dlopen("./plug.so", RTLD_NOW);

	if (argc < 4)
		return 2;
	trapped_number = strtol(argv[1], NULL, 0);
	jumps = strcmp(argv[2], "jump") == 0;
	if (strcmp(argv[2], "errno") == 0)
		filter_action = SECCOMP_RET_ERRNO | EPERM;
	if (strcmp(argv[2], "kill") == 0)
		filter_action = SECCOMP_RET_KILL_PROCESS;
	rounds = strtol(argv[3], NULL, 0);
	work();
	/* The program itself needs the system call only before it installs the filter. */
	for (int i = 0; i < 4; i++) {
		if (i == 1) {
			sigaction(SIGSYS, &action, NULL);
			*(void **)&plug = library != NULL ? dlsym(library, "plug") : NULL;
			install(filter_action, argc > 4);
		}
		if (i == 0)
			run((void *)rounds);
		else if (pthread_create(&threads[i], NULL, run, (void *)rounds) != 0)
			return 3;
		else
			pthread_join(threads[i], NULL);
	}
	run((void *)rounds);
	printf("work %lu\n", n_work);
	if (getenv("TELL_TRAPPED") != NULL && getenv("TELL_TRAPPED")[0] != '\0')
		printf("trapped %lu\n", n_trapped);
	return 0;
}
