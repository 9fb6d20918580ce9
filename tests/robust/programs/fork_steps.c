/* SPDX-License-Identifier: MIT */
/*
 * fork_steps HOW: the parent takes 1 lock and forks a child.  The child takes 5 locks and prints
 * "ready"; for each byte of standard input it takes 5 more and prints "again"; at the end of the
 * input it takes 20.
 *
 *	place	as described
 *	folder	at the first byte it takes 1000 instead, in two threads, which needs a folder
 *	pid	it is in a new PID namespace, with a pid that no process outside has
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NUMBERS_MAX 100000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *use(void *n)
{
	for (size_t i = 0; i < (size_t)n; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void use_by_two(size_t n)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, use, (void *)(n / 2)) != 0)
		_exit(1);
	use((void *)(n / 2));
	pthread_join(thread, NULL);
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

static void take_steps(const char *how)
{
	char byte;

	use((void *)5);
	say("ready");
	for (int i = 0; read(STDIN_FILENO, &byte, 1) == 1; i++) {
		if (i == 0 && strcmp(how, "folder") == 0)
			use_by_two(1000);
		else
			use((void *)5);
		say("again");
	}
	use((void *)20);
}

static int wait_for(pid_t child)
{
	int status;

	return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

/* /proc shows the outer PID namespace. */
static int is_free(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return access(path, F_OK) != 0;
}

/*
 * Called by process 1 of the namespace, which is not to be recorded, since its pid also exists
 * outside: it waits by the system call.
 */
static int fork_free(const char *how)
{
	for (int i = 0; i < NUMBERS_MAX; i++) {
		pid_t child = fork();
		int status;

		if (child == 0 && !is_free(getpid()))
			_exit(2);
		if (child == 0) {
			take_steps(how);
			_exit(0);
		}
		if (child < 0 || syscall(SYS_wait4, child, &status, 0, NULL) != child)
			return 1;
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 2)
			return status != 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pid_t child;

	use((void *)1);
	if (strcmp(how, "pid") == 0 && unshare(CLONE_NEWPID) != 0)
		return 77;
	child = fork();
	if (child == 0 && strcmp(how, "pid") == 0)
		_exit(fork_free(how));
	if (child == 0) {
		take_steps(how);
		_exit(0);
	}
	return wait_for(child);
}
