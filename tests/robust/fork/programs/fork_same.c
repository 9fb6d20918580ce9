/* SPDX-License-Identifier: MIT */
/*
 * fork_same N: makes N children one after the other, all with the same pid if the kernel permits to
 * choose it (as PID 1 of a namespace).  The n-th takes n locks.  Prints how many had that pid.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THE_PID 300

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void choose_pid(void)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);

	if (fd < 0)
		return;
	if (dprintf(fd, "%d", THE_PID - 1) < 0)
		perror("ns_last_pid");
	close(fd);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, n_same = 0;

	for (int i = 1; i <= n; i++) {
		pid_t child;
		int status;

		choose_pid();
		child = fork();
		if (child == 0) {
			for (int j = 0; j < i; j++) {
				pthread_mutex_lock(&lock);
				pthread_mutex_unlock(&lock);
			}
			_exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
			return 1;
		n_same += child == THE_PID;
	}
	printf("%d\n", n_same);
	return 0;
}
