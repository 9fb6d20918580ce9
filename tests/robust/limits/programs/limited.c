/* SPDX-License-Identifier: MIT */
/*
 * limited: four threads, and after them a forked child, call `leaf` and lock a mutex 1000 times
 * each.  Prints everything that a library could change: the counts, changes of errno by the
 * operations, errors of pthread_create() and fork(), the next file descriptor, the child's exit
 * status.  Exits with 7.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_THREADS  4
#define ROUNDS	   1000
#define STACK	   262144
#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long n_calls, n_wrong;

NOINLINE static void leaf(void)
{
	n_calls++;
}

UNPROFILED static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		errno = 77;
		pthread_mutex_lock(&mutex);
		leaf();
		pthread_mutex_unlock(&mutex);
		n_wrong += errno != 77;
	}
	return unused;
}

UNPROFILED static void threads(void)
{
	pthread_t ids[N_THREADS];
	pthread_attr_t attributes;
	int errors[N_THREADS];

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (int i = 0; i < N_THREADS; i++)
		errors[i] = pthread_create(&ids[i], &attributes, work, NULL);
	for (int i = 0; i < N_THREADS; i++) {
		if (errors[i] == 0)
			pthread_join(ids[i], NULL);
		printf("thread %d: %s\n", i, strerror(errors[i]));
	}
}

UNPROFILED int main(void)
{
	int fd, status = 0;
	pid_t child;

	threads();
	errno = 0;
	fd = open("/dev/null", O_RDONLY);
	printf("calls %lu, wrong errno %lu, descriptor %d: %s\n", n_calls, n_wrong, fd,
	       strerror(errno));
	fflush(stdout);
	child = fork();
	if (child == 0) {
		work(NULL);
		_exit(5);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	printf("child %s, status %x\n", child > 0 ? "made" : strerror(errno), status);
	return 7;
}
