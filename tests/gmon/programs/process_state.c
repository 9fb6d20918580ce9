/* SPDX-License-Identifier: MIT */
/*
 * process_state: prints the children, signals and open descriptors of a program that made none
 * itself, and has a thread use 100 ms of CPU time and then sleep.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

static volatile long turns;

__attribute__((noinline)) static void work(void)
{
	turns++;
}

static void *run(void *arg)
{
	const struct timespec pause = {0, 50000000};
	struct timespec now;

	do {
		for (int i = 0; i < 100000; i++)
			work();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec == 0 && now.tv_nsec < 100000000);
	nanosleep(&pause, NULL);
	return arg;
}

int main(void)
{
	sigset_t pending;
	pthread_t thread;
	DIR *fds = opendir("/proc/self/fd");
	int n = 0;

	while (fds != NULL && readdir(fds) != NULL)
		n++;
	sigpending(&pending);
	printf("children: %s, pending: %d, descriptors: %d\n",
	       waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD ? "none" : "some",
	       sigismember(&pending, SIGCHLD), n);
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	return 0;
}
