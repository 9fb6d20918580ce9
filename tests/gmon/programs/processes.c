/* SPDX-License-Identifier: MIT */
/*
 * processes HOW: calls `leaf` 100 times before and 10 times after it creates, replaces or ends a
 * process; a child that continues in this program calls it 7 times.
 *
 *	fork, fork_thread  a child of the main thread or of another; it ends by exit()
 *	fork_exec          a child that calls `leaf`, then executes another program
 *	nested             a child of a child of a child
 *	_Fork, clone       a child without fork handlers; it ends by exit() or _exit()
 *	_Fork_silent       such a child that calls nothing and ends by exit()
 *	clone_thread       such a child whose first calls are made by another thread
 *	system, daemon     system() with another program; daemon() in a child
 *	vfork              a child that calls `leaf` in the parent's memory, then executes another
 *	spawn              posix_spawn
 *	exec               becomes "leaf_only", which calls `leaf` 3 times
 *	kill, segv, abort, _exit, quick_exit  ends this way
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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

/* Each generation calls `leaf` 7 times and then has a child that does the same. */
static void nested(int generations)
{
	pid_t child = generations > 0 ? fork() : 0;

	if (generations == 0)
		return;
	if (child == 0) {
		times(7);
		nested(generations - 1);
		exit(0);
	}
	wait_for(child);
}

/* The daemon cannot be waited for; it signals its end by closing the pipe. */
static void become_daemon(void)
{
	int done[2];
	pid_t child;
	char byte;

	if (pipe(done) != 0)
		exit(1);
	child = fork();
	if (child == 0) {
		times(7);
		if (daemon(1, 0) != 0)
			exit(1);
		times(4);
		exit(0);
	}
	wait_for(child);
	close(done[1]);
	if (read(done[0], &byte, 1) != 0)
		exit(1);
}

static void *five(void *unused)
{
	times(5);
	return unused;
}

/* The same call sites from which the parent's calls were counted. */
static void unheard_of(const char *how)
{
	pthread_t thread;
	pid_t child;

	if (how[0] == '_')
		child = _Fork();
	else
		child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
	if (child != 0) {
		wait_for(child);
		return;
	}
	if (strcmp(how, "_Fork_silent") == 0)
		exit(0);
	if (strcmp(how, "clone_thread") == 0) {
		if (pthread_create(&thread, NULL, five, NULL) != 0)
			_exit(1);
		pthread_join(thread, NULL);
	}
	times(7);
	if (how[0] == '_')
		exit(0);
	_exit(0);
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
		/* Another thread exists, which the child does not have. */
		sem_init(&ready, 0, 0);
		pthread_create(&thread, NULL, wait_for_ever, NULL);
		sem_wait(&ready);
		fork_here(NULL);
	} else if (strcmp(how, "fork_thread") == 0) {
		pthread_create(&thread, NULL, fork_here, NULL);
		pthread_join(thread, NULL);
	} else if (strcmp(how, "fork_exec") == 0) {
		child = fork();
		if (child == 0) {
			times(7);
			execv("./leaf_only", arguments);
			_exit(1);
		}
		wait_for(child);
	} else if (strcmp(how, "nested") == 0) {
		nested(3);
	} else if (strncmp(how, "_Fork", 5) == 0 || strncmp(how, "clone", 5) == 0) {
		unheard_of(how);
	} else if (strcmp(how, "system") == 0) {
		if (system("./leaf_only") != 0)
			exit(1);
	} else if (strcmp(how, "daemon") == 0) {
		become_daemon();
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
	if (strcmp(how, "segv") == 0)
		*(volatile int *)8 = 0;
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "_exit") == 0)
		_exit(9);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(9);
	return 0;
}
