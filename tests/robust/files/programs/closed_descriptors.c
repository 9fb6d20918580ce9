/* SPDX-License-Identifier: MIT */
/*
 * closed_descriptors: started with any of the descriptors 0 to 2 closed, prints into `result` which
 * of them are open, opens files that get the free numbers, and makes calls, threads, locks and a
 * child that could write into them.  Then reports what the files hold.  Exits with 7.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_FILES	  3
#define N_THREADS 4
#define N_LOCKS	  2000
#define NOINLINE  __attribute__((noinline, noipa))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sum;

NOINLINE static void add(unsigned n)
{
	pthread_mutex_lock(&lock);
	sum += n;
	pthread_mutex_unlock(&lock);
}

static void *run(void *unused)
{
	for (unsigned i = 0; i < N_LOCKS; i++)
		add(i);
	return unused;
}

static void work(void)
{
	pthread_t threads[N_THREADS];

	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			_exit(1);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	int fds[N_FILES], were_open[3], status = -1;
	char name[16], held[64];
	FILE *result;
	pid_t child;

	for (int i = 0; i < 3; i++)
		were_open[i] = fcntl(i, F_GETFD) >= 0;
	for (int i = 0; i < N_FILES; i++) {
		snprintf(name, sizeof(name), "data.%d", i);
		fds[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (write(fds[i], "data\n", 5) != 5)
			return 1;
	}
	work();
	child = fork();
	if (child == 0) {
		work();
		_exit(3);
	}
	waitpid(child, &status, 0);
	result = fopen("result", "w");
	if (result == NULL)
		return 1;
	fprintf(result, "open %d%d%d, child %d, result %d\n", were_open[0], were_open[1],
		were_open[2], WEXITSTATUS(status), fileno(result));
	for (int i = 0; i < N_FILES; i++) {
		ssize_t n = pread(fds[i], held, sizeof(held), 0);

		fprintf(result, "descriptor %d: %.*s", fds[i], n > 0 ? (int)n : 0, held);
	}
	fclose(result);
	if (were_open[1] && write(1, "out\n", 4) != 4)
		return 1;
	if (were_open[2] && write(2, "err\n", 4) != 4)
		return 1;
	return 7;
}
