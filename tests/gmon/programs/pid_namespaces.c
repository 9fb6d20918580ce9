/* SPDX-License-Identifier: MIT */
/*
 * pid_namespaces HOW: makes children that all have process id 1, each in a PID namespace of its
 * own. This program calls `leaf` once, child N calls it N times and also locks a mutex.
 *
 *	in_turn  children 1 to 3, one after the other; child 4, of child 3, has its parent's id
 *	at_once  children 1 to 8, all of which exist before the first call
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline, noipa)) void leaf(void)
{
}

static pid_t begin(void)
{
	pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, 0);

	if (child < 0) {
		printf("clone(CLONE_NEWPID): %s\n", strerror(errno));
		exit(errno == EPERM || errno == EINVAL || errno == ENOSPC ? 77 : 1);
	}
	return child;
}

static void live(int n)
{
	if (syscall(SYS_getpid) != 1)
		_exit(1);
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < n; i++)
		leaf();
	pthread_mutex_unlock(&mutex);
}

static void wait_for_one(void)
{
	int status;

	if (wait(&status) < 0 || status != 0) {
		printf("status %#x of a child\n", (unsigned)status);
		exit(1);
	}
}

static void in_turn(void)
{
	for (int n = 1; n <= 3; n++) {
		if (begin() == 0) {
			live(n);
			if (n == 3 && begin() == 0)
				live(4);
			else if (n == 3)
				wait_for_one();
			exit(0);
		}
		wait_for_one();
	}
}

static void at_once(void)
{
	int start[2];
	char byte;

	if (pipe(start) != 0)
		exit(1);
	for (int n = 1; n <= 8; n++)
		if (begin() == 0) {
			close(start[1]);
			if (read(start[0], &byte, 1) != 0)
				_exit(1);
			live(n);
			exit(0);
		}
	close(start[1]);
	for (int n = 1; n <= 8; n++)
		wait_for_one();
}

int main(int argc, char **argv)
{
	leaf();
	if (argc > 1 && strcmp(argv[1], "at_once") == 0)
		at_once();
	else
		in_turn();
	return 0;
}
