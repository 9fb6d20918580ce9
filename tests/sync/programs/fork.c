/* SPDX-License-Identifier: MIT */
/*
 * Creates processes in every way, from a thread that is not the main thread, while another thread
 * locks. Each process prints "PID LOCKS": the number of its own locks since its creation.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, busy = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stop;
static char *program;

static void lock(int n)
{
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

static void say(int n)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "%d %d\n", getpid(), n);

	if (write(1, line, (size_t)length) != length)
		_exit(9);
}

static void *lock_in_thread(void *arg)
{
	lock(4);
	return arg;
}

static void child(int n)
{
	pthread_t thread;

	lock(n);
	pthread_create(&thread, NULL, lock_in_thread, NULL);
	pthread_join(thread, NULL);
	say(n + 4);
	_exit(0);
}

static void *keep_busy(void *arg)
{
	for (int i = 0; !atomic_load(&stop); i++) {
		pthread_mutex_lock(&busy);
		pthread_mutex_unlock(&busy);
		if (i > 50000) /* enough to read */
			usleep(100);
	}
	return arg;
}

static void *fork_all(void *arg)
{
	pid_t pid;

	lock(10);
	if (fork() == 0)
		child(1);
	if (_Fork() == 0)
		child(2);
	if (syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
		lock(3); /* libc does not know this process: it has no thread */
		say(3);
		_exit(0);
	}
	if (fork() == 0) {
		lock(5);
		if (fork() == 0)
			child(6);
		wait(NULL);
		say(5);
		_exit(0);
	}
	if (fork() == 0)
		_exit(0); /* does nothing */
	pid = vfork();
	if (pid == 0) {
		pthread_mutex_lock(&mutex); /* the parent's mutex, in the parent's memory */
		pthread_mutex_unlock(&mutex);
		execl(program, program, "7", (char *)NULL);
		_exit(8);
	}
	while (wait(NULL) > 0)
		;
	lock(10);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t busy_one, forker;

	if (argc > 1) {
		lock(atoi(argv[1]));
		say(atoi(argv[1]));
		return 0;
	}
	program = argv[0];
	pthread_create(&busy_one, NULL, keep_busy, NULL);
	pthread_create(&forker, NULL, fork_all, NULL);
	pthread_join(forker, NULL);
	atomic_store(&stop, 1);
	pthread_join(busy_one, NULL);
	say(21);
	printf("mutex %p\n", (void *)&mutex);
	fflush(stdout);
	execl(program, program, "9", (char *)NULL);
	return 1;
}
