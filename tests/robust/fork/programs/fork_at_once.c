/* SPDX-License-Identifier: MIT */
/*
 * fork_at_once N: N children run at the same time.  Each takes the lock before the next one is
 * made, and takes it again after all of them have.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static int child(int ready, int go)
{
	char byte = 0;

	take_lock();
	if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 0)
		return 1;
	take_lock();
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 12, ready[2], go[2], status, bad = 0;
	char byte;

	if (pipe(ready) != 0 || pipe(go) != 0)
		return 1;
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0) {
			close(go[1]);
			_exit(child(ready[1], go[0]));
		}
		bad |= read(ready[0], &byte, 1) != 1;
	}
	close(go[1]);
	for (int i = 0; i < n; i++)
		bad |= wait(&status) < 0 || status != 0;
	return bad;
}
