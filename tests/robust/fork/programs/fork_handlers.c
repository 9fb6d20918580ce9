/* SPDX-License-Identifier: MIT */
/*
 * fork_handlers N: makes N children by each of fork(), _Fork(), clone(), vfork() and posix_spawn().
 * Each child except those of vfork() takes one lock.  The parent takes no lock and calls no
 * function of its own before the first fork.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned n_bad;

__attribute__((noinline)) void child_work(void);

__attribute__((noinline)) void child_work(void)
{
	pthread_mutex_lock(&own_lock);
	pthread_mutex_unlock(&own_lock);
}

static void await(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		n_bad++;
}

static void end_child(pid_t child, int i)
{
	if (child != 0) {
		await(child);
		return;
	}
	child_work();
	if (i % 2 == 0)
		_exit(0);
	exit(0);
}

static void spawn(char *program)
{
	extern char **environ;
	char *argv[] = {program, "child", NULL};
	pid_t child;

	if (posix_spawn(&child, program, NULL, NULL, argv, environ) != 0)
		child = -1;
	await(child);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;

	if (argc > 1 && strcmp(argv[1], "child") == 0) {
		child_work();
		return 0;
	}
	for (int i = 0; i < n; i++) {
		pid_t child;

		end_child(fork(), i);
		end_child(_Fork(), i);
		end_child((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), i);
		child = vfork();
		if (child == 0)
			_exit(0);
		await(child);
		spawn(argv[0]);
	}
	printf("%d rounds, %u bad\n", n, n_bad);
	return n_bad != 0;
}
