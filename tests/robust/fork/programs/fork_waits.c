/* SPDX-License-Identifier: MIT */
/* fork_waits CHILDREN: each child of fork waits for a time on a semaphore, once, below two
 * functions. */
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static sem_t never;

__attribute__((noinline)) static int waits(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 200000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return sem_timedwait(&never, &until) == -1 && errno == ETIMEDOUT ? 0 : 1;
}

__attribute__((noinline)) static int child(void)
{
	int result = waits();

	__asm__ volatile("" : "+r"(result)); /* no tail call */
	return result;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, bad = 0;

	sem_init(&never, 0, 0);
	for (int i = 0; i < n; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			_exit(child());
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
			bad++;
	}
	printf("%d bad\n", bad);
	return bad > 0;
}
