/* SPDX-License-Identifier: MIT */
/*
 * usage: descriptors TRIES [FILE [USER]]
 *
 * FILE may be -, for none.  With USER, the process becomes that user after its first locks.
 *
 * One thread closes descriptor 0 and opens FILE (or /dev/null) TRIES times: it must get descriptor
 * 0 each time, and FILE must keep the length that it wrote.  Meanwhile another thread makes threads
 * that call a function and take a lock, up to WIDTH at a time, and children that do the same.
 * Prints "TRIES wrong WRONG threads THREADS"; fails if any was wrong.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WIDTH  8
#define ROUNDS 400 /* locks of a thread: more than its first page of events holds */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int finished;
static long n_threads;

__attribute__((noinline)) static void work(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

static void *thread(void *arg)
{
	work();
	return arg;
}

static void child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		work();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void *make_threads(void *arg)
{
	pthread_t made[WIDTH];

	for (int round = 0; !__atomic_load_n(&finished, __ATOMIC_RELAXED); round++) {
		int n = 1 + round % WIDTH;

		for (int i = 0; i < n; i++)
			if (pthread_create(&made[i], NULL, thread, NULL) != 0)
				abort();
		for (int i = 0; i < n; i++)
			pthread_join(made[i], NULL);
		n_threads += n;
		if (round % 64 == 0)
			child();
	}
	return arg;
}

int main(int argc, char **argv)
{
	long tries = argc > 1 ? atol(argv[1]) : 1000, n_wrong = 0;
	const char *path = argc > 2 ? argv[2] : NULL;
	pthread_t maker;
	struct stat status;

	if (path != NULL && strcmp(path, "-") == 0)
		path = NULL;
	work();
	if (argc > 3 &&
	    setresuid((uid_t)atoi(argv[3]), (uid_t)atoi(argv[3]), (uid_t)atoi(argv[3])) != 0)
		return 2;
	pthread_create(&maker, NULL, make_threads, NULL);
	for (long i = 0; i < tries; i++) {
		int fd;

		close(0);
		fd = path == NULL ? open("/dev/null", O_RDONLY)
				  : open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (fd != 0) {
			n_wrong++;
			close(fd);
			continue;
		}
		if (path != NULL &&
		    (write(fd, "own", 3) != 3 || fstat(fd, &status) != 0 || status.st_size != 3))
			n_wrong++;
	}
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	pthread_join(maker, NULL);
	printf("%ld wrong %ld threads %ld\n", tries, n_wrong, n_threads);
	return n_wrong != 0;
}
