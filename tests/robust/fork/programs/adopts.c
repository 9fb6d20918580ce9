/* SPDX-License-Identifier: MIT */
/*
 * adopts: makes a child and waits for all its children.  Children of other processes do not end.
 * adopts PRELOAD: becomes a child subreaper, which exec() preserves, and executes itself with
 * LD_PRELOAD set.  It first stops the profiling timer of glibc's own profiler: exec() preserves
 * the timer but not its handler, so the signal would end the new program.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(int argc, char **argv)
{
	int n_children = 0;
	pid_t child;

	if (argc > 1) {
		setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
		setenv("LD_PRELOAD", argv[1], 1);
		execl("/proc/self/exe", argv[0], (char *)NULL);
		return 2;
	}
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	child = fork();
	if (child == 0)
		_exit(0);
	while (wait(NULL) > 0 || errno == EINTR)
		n_children++;
	printf("%d child, then %s\n", n_children, strerror(errno));
	return child < 0 || n_children != 1;
}
