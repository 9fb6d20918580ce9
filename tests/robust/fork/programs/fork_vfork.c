/* SPDX-License-Identifier: MIT */
/*
 * fork_vfork fork|_Fork: a child of the fork calls vfork() before it calls work(), so that its
 * first event comes from another process in the same memory.  Prints the numbers of the parent and
 * the child.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void work(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void child(void)
{
	pid_t borrower = vfork();

	if (borrower == 0) {
		work();
		_exit(0);
	}
	waitpid(borrower, NULL, 0);
	work();
}

int main(int argc, char **argv)
{
	pid_t pid;
	int status;

	work();
	pid = argc > 1 && strcmp(argv[1], "_Fork") == 0 ? _Fork() : fork();
	if (pid == 0) {
		child();
		_exit(0);
	}
	printf("%d %d\n", (int)getpid(), (int)pid);
	return waitpid(pid, &status, 0) != pid || status != 0;
}
