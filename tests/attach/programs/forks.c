/* SPDX-License-Identifier: MIT */
/*
 * Forks one child after the other until it is killed; each works 3 ms in two threads.  A child ends
 * with its parent.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile long n_steps;

static long now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void *work(void *arg)
{
	long until_ns = now_ns() + 3000000;

	while (now_ns() < until_ns)
		n_steps++;
	return arg;
}

static void be_child(void)
{
	pthread_t other;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&other, NULL, work, NULL);
	work(NULL);
	pthread_join(other, NULL);
	_exit(0);
}

int main(void)
{
	puts("known");
	fflush(stdout);
	for (;;) {
		pid_t child = fork();

		if (child == 0)
			be_child();
		waitpid(child, NULL, 0);
	}
}
