/* SPDX-License-Identifier: MIT */
/*
 * known_syscalls: makes a known number of system calls, page faults, sleeps and signals in two
 * threads. Each thread prints
 *
 *	thread TID calls N reads N signals N sleeps N first ADDRESS pages N
 *
 * calls: number of getppid() calls; reads: number of 7-byte reads, on descriptor 100 + calls;
 * pages: number of pages touched for the first time, from ADDRESS on.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define N    40

static void handle(int signal)
{
	(void)signal;
}

static int known_pipe(int number, int *ret_to)
{
	int fds[2];

	if (pipe(fds) || dup2(fds[0], number) != number)
		exit(1);
	*ret_to = fds[1];
	return number;
}

static char *touch(int n)
{
	char *pages =
	    mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || madvise(pages, n * PAGE, MADV_NOHUGEPAGE))
		exit(1);
	for (int i = 0; i < n; i++)
		pages[i * PAGE] = 1;
	return pages;
}

static void *act(void *arg)
{
	int n = *(int *)arg, to, from = known_pipe(100 + n, &to);
	const struct timespec moment = {0, 1000000};
	char bytes[7] = "", line[200], *pages;
	int len;

	for (int i = 0; i < n; i++) {
		syscall(SYS_getppid);
		if (write(to, bytes, 7) != 7 || read(from, bytes, 7) != 7)
			exit(1);
		if (i % 10 == 0)
			pthread_kill(pthread_self(), SIGUSR2);
		if (i % 20 == 0)
			nanosleep(&moment, NULL);
	}
	pages = touch(n);
	len = snprintf(line, sizeof(line),
		       "thread %d calls %d reads %d signals %d sleeps %d first %p pages %d\n",
		       gettid(), n, n, (n + 9) / 10, (n + 19) / 20, (void *)pages, n);
	return write(STDOUT_FILENO, line, len) == len ? arg : NULL;
}

int main(void)
{
	static int counts[] = {2 * N, 3 * N};
	pthread_t threads[2];

	signal(SIGUSR2, handle);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, act, &counts[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
