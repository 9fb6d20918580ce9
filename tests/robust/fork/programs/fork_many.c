/* SPDX-License-Identifier: MIT */
/*
 * fork_many N: makes N children of fork.  Each takes a known number of locks, and calls
 * child_work() for each of them.  Prints the number of children of each kind, and the locks of all
 * children.
 *
 * Some children end by exit(), some by _exit(), some by SIGKILL after their lock; some have another
 * thread, some take more locks than a small buffer holds, call many functions, load a library, fork
 * children of their own, or execute this program again.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY	 600
#define PARALLEL 8

enum kind { EXITS, LEAVES, KILLED, THREAD, LOCKS, CALLS, LOADS, FORKS, EXECS, N_KINDS };

static const char *const names[N_KINDS] = {"exit",  "_exit",  "killed", "thread", "locks",
					   "calls", "dlopen", "fork",	"exec"};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) void child_work(void);

__attribute__((noinline)) void child_work(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

/* 64 functions: more than fit into the place that is prepared for a child. */
#define F(n)                                                                                       \
	__attribute__((noinline)) static void f##n(void)                                           \
	{                                                                                          \
		__asm__ volatile("");                                                              \
	}
#define F8(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)
F8(1);
F8(2);
F8(3);
F8(4);
F8(5);
F8(6);
F8(7);
F8(8);
#define C8(n)                                                                                      \
	f##n##0();                                                                                 \
	f##n##1();                                                                                 \
	f##n##2();                                                                                 \
	f##n##3();                                                                                 \
	f##n##4();                                                                                 \
	f##n##5();                                                                                 \
	f##n##6();                                                                                 \
	f##n##7();

static void *work(void *unused)
{
	child_work();
	return unused;
}

static void with_thread(void)
{
	pthread_t thread;

	child_work();
	if (pthread_create(&thread, NULL, work, NULL) != 0)
		_exit(1);
	pthread_join(thread, NULL);
}

static void with_child(void)
{
	pid_t child;
	int status;

	child_work();
	child = fork();
	if (child == 0) {
		child_work();
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		_exit(1);
	child_work();
}

/* Does not return. */
static void be(enum kind kind, char *program)
{
	char *argv[] = {program, "child", NULL};

	switch (kind) {
	case THREAD:
		with_thread();
		break;
	case LOCKS:
		for (int i = 0; i < MANY; i++)
			child_work();
		break;
	case CALLS:
		child_work();
		C8(1) C8(2) C8(3) C8(4) C8(5) C8(6) C8(7) C8(8) break;
	case LOADS:
		child_work();
		if (dlopen("./loaded.so", RTLD_NOW) == NULL)
			_exit(1);
		break;
	case FORKS:
		with_child();
		break;
	case EXECS:
		child_work();
		execv(program, argv);
		_exit(1);
	default:
		child_work();
		break;
	}
	if (kind == KILLED)
		raise(SIGKILL);
	if (kind == EXITS)
		exit(0);
	_exit(0);
}

/* The locks that a child of this kind takes, with those of its child, library or new program. */
static unsigned locks_of(enum kind kind)
{
	switch (kind) {
	case THREAD:
	case LOADS:
	case EXECS:
		return 2;
	case LOCKS:
		return MANY;
	case FORKS:
		return 3;
	default:
		return 1;
	}
}

/* As in real programs, most children do little. */
static enum kind kind_of(int i)
{
	return i % 16 < (int)N_KINDS ? (enum kind)(i % 16) : LEAVES;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, n_live = 0, bad = 0;
	unsigned counts[N_KINDS] = {0}, locks = 0;

	if (argc > 1 && strcmp(argv[1], "child") == 0) {
		child_work();
		return 0;
	}
	for (int i = 0; i < n || n_live > 0;) {
		int status;

		if (i < n && n_live < PARALLEL) {
			enum kind kind = kind_of(i++);
			pid_t child = fork();

			if (child == 0)
				be(kind, argv[0]);
			if (child < 0)
				return 1;
			n_live++;
			counts[kind]++;
			locks += locks_of(kind);
			continue;
		}
		if (wait(&status) < 0)
			return 1;
		n_live--;
		bad += status != 0 && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	for (unsigned kind = 0; kind < N_KINDS; kind++)
		printf("%s %u\n", names[kind], counts[kind]);
	printf("bad %d\nlocks %u\n", bad, locks);
	return bad != 0;
}
