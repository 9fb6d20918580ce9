/* SPDX-License-Identifier: MIT */
/*
 * fork_faults N: makes N children one after the other; each takes one lock and calls one function.
 * Prints the mean page faults of a child, in hundredths.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline, noipa)) static void work(void)
{
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;
	struct rusage usage;

	for (int i = 0; i < n; i++) {
		pid_t child = fork();

		if (child == 0) {
			pthread_mutex_lock(&lock);
			work();
			pthread_mutex_unlock(&lock);
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 1;
	}
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("%ld\n", usage.ru_minflt * 100 / n);
	return 0;
}
