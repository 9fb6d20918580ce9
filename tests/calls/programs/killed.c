/* SPDX-License-Identifier: MIT */
/*
 * killed CALLS: a child calls fa() in two threads and counts the completed calls in shared memory;
 * it is killed when there are CALLS of them. Prints "TID CALLS" of each thread.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

#define CALLS_MAX 10000 /* per thread; babeltrace2 has to read them all */

struct count {
	long tid;
	unsigned long calls;
	char other_line[112];
};

static volatile struct count *counts;

NOINLINE void fa(void)
{
}

UNPROFILED static void *run(void *arg)
{
	volatile struct count *count = &counts[(long)arg];

	count->tid = syscall(SYS_gettid);
	while (count->calls < CALLS_MAX) {
		fa();
		count->calls++;
	}
	for (;;)
		pause();
	return NULL;
}

UNPROFILED static void endless(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, (void *)1);
	run((void *)0);
}

UNPROFILED int main(int argc, char **argv)
{
	unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	int status;
	pid_t child;

	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		return 1;
	child = fork();
	if (child == 0)
		endless();
	while (counts[0].calls + counts[1].calls < wanted || counts[1].calls == 0)
		sched_yield();
	kill(child, SIGKILL);
	if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
		return 1;
	for (int i = 0; i < 2; i++)
		printf("%ld %lu\n", counts[i].tid, counts[i].calls);
	return 0;
}
