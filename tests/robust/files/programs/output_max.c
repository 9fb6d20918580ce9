/* SPDX-License-Identifier: MIT */
/*
 * output_max PROCESSES LOCKS: makes PROCESSES processes at a time; each executes this program anew
 * and locks a mutex LOCKS times.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(int argc, char **argv)
{
	long n_processes = argc > 1 ? atol(argv[1]) : 0, n_locks = argc > 2 ? atol(argv[2]) : 0;
	int status, failed = 0;

	for (long i = 0; n_processes == 0 && i < n_locks; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	for (long i = 0; i < n_processes; i++)
		if (fork() == 0) {
			execl(argv[0], argv[0], "0", argv[2], (char *)NULL);
			_exit(1);
		}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
