/* SPDX-License-Identifier: MIT */
/*
 * locks_in_children N CHILDREN: the process and each of its CHILDREN forked children lock a mutex N
 * times.  Every second child does so in two threads, and the third child forks a child of its own.
 * Prints the number of locks in all processes.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long n;

static void *work(void *unused)
{
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void child(int number)
{
	pthread_t thread;

	if (number % 2 != 0)
		pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	if (number % 2 != 0)
		pthread_join(thread, NULL);
	if (number == 2 && fork() == 0) {
		work(NULL);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	exit(0);
}

int main(int argc, char **argv)
{
	int n_children = argc > 2 ? atoi(argv[2]) : 0;

	n = argc > 1 ? atol(argv[1]) : 0;
	work(NULL);
	for (int i = 0; i < n_children; i++)
		if (fork() == 0)
			child(i);
	while (wait(NULL) > 0)
		;
	printf("%ld\n", n * (1 + n_children + n_children / 2 + (n_children > 2)));
	return 0;
}
