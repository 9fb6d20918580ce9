/* SPDX-License-Identifier: MIT */
/*
 * processes HOW: calls `leaf` 100 times before and 10 times after something is done with processes;
 * a child that lives on in this program calls it 7 times.
 *
 *	fork, fork_thread  a child, of the main thread or of another; it ends by exit()
 *	vfork              a child that calls `leaf` in the parent's memory, then executes another
 *	spawn              posix_spawn
 *	exec               becomes "leaf_only", which calls `leaf` 3 times
 *	kill, abort, _exit, quick_exit  ends this way at the end
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static sem_t ready;

__attribute__((noinline, noipa)) void leaf(void)
{
}

__attribute__((noinline, noipa)) void times(int n)
{
	for (int i = 0; i < n; i++)
		leaf();
}

static void wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		exit(1);
}

static void *fork_here(void *unused)
{
	pid_t child = fork();

	if (child == 0) {
		times(7);
		exit(0);
	}
	wait_for(child);
	return unused;
}

static void *wait_for_ever(void *unused)
{
	times(5);
	sem_post(&ready);
	for (;;)
		pause();
	return unused;
}

static void do_it(const char *how)
{
	char *arguments[] = {"leaf_only", NULL};
	pthread_t thread;
	pid_t child;

	if (strcmp(how, "fork") == 0) {
		/* With another thread about, which the child does not have. */
		sem_init(&ready, 0, 0);
		pthread_create(&thread, NULL, wait_for_ever, NULL);
		sem_wait(&ready);
		fork_here(NULL);
	} else if (strcmp(how, "fork_thread") == 0) {
		pthread_create(&thread, NULL, fork_here, NULL);
		pthread_join(thread, NULL);
	} else if (strcmp(how, "vfork") == 0) {
		child = vfork();
		if (child == 0) {
			times(7);
			execv("./leaf_only", arguments);
			_exit(1);
		}
		wait_for(child);
	} else if (strcmp(how, "spawn") == 0) {
		if (posix_spawn(&child, "./leaf_only", NULL, NULL, arguments, environ) != 0)
			exit(1);
		wait_for(child);
	} else if (strcmp(how, "exec") == 0) {
		times(10);
		execv("./leaf_only", arguments);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (strstr(argv[0], "leaf_only") != NULL) {
		times(3);
		return 0;
	}
	times(100);
	do_it(how);
	times(10);
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "_exit") == 0)
		_exit(9);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(9);
	return 0;
}
