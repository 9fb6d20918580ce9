/* SPDX-License-Identifier: MIT */
/*
 * paths MS THREADS: `main` and THREADS threads that live at the same time each use MS of CPU time
 * in one function, called on two paths, 70 and 30 of a hundred times.  Prints TID CPU_NS NS_LEFT
 * NS_RIGHT for each, from their own clocks.
 *
 * paths MS THREADS altstack: each in a signal handler, on an alternate stack of its own.
 * paths MS CHILDREN fork: children of fork, one after the other, in place of threads; with their
 * process id.
 * paths MS THREADS after: the threads live one after the other, and the next begins when one ends.
 * paths MS THREADS crowd: the same, after 300 threads that end at once.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

#define NOINLINE  __attribute__((noinline, noipa))
#define MAX	  1000
#define CROWD	  300
#define ALT_BYTES 65536

struct thread {
	pthread_t id;
	int tid;
	uint64_t cpu, left, right;
};

static uint64_t length_ns;
static volatile unsigned long sink;
static __thread struct thread *self;

NOINLINE void leaf(void)
{
	for (unsigned long i = 0; i < 20000; i++)
		sink += i * i;
}

NOINLINE void left(void)
{
	leaf();
	sink++; /* prevents a tail call */
}

NOINLINE void right(void)
{
	leaf();
	sink++;
}

NOINLINE void work(struct thread *thread)
{
	uint64_t start = cpu_ns(), now = start;

	thread->tid = gettid();
	for (unsigned i = 0; now - start < length_ns; i++) {
		uint64_t before = now;

		if (i * 3 % 10 < 7) {
			left();
			now = cpu_ns();
			thread->left += now - before;
		} else {
			right();
			now = cpu_ns();
			thread->right += now - before;
		}
	}
	thread->cpu = cpu_ns();
}

static void handle(int number)
{
	(void)number;
	work(self);
}

static void work_in_handler(struct thread *thread)
{
	static struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_sp = malloc(ALT_BYTES), .ss_size = ALT_BYTES};

	self = thread;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
}

static const char *how;

static void *run(void *thread)
{
	if (strcmp(how, "altstack") == 0)
		work_in_handler(thread);
	else
		work(thread);
	return NULL;
}

static void print(const struct thread *thread)
{
	printf("%d %lu %lu %lu\n", thread->tid, thread->cpu, thread->left, thread->right);
	fflush(stdout);
}

static int fork_children(int n, struct thread *thread)
{
	for (int i = 0, status; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			run(thread);
			print(thread);
			exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status != 0)
			return 1;
	}
	return 0;
}

static void *end_at_once(void *unused)
{
	return unused;
}

static bool begin_crowd(void)
{
	pthread_t id;

	for (int i = 0; i < CROWD; i++)
		if (pthread_create(&id, NULL, end_at_once, NULL) != 0 ||
		    pthread_join(id, NULL) != 0)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	bool in_turn;
	static struct thread threads[1 + MAX];
	int n = argc > 2 ? atoi(argv[2]) : -1;

	if (n < 0 || n > MAX)
		return 2;
	how = argc > 3 ? argv[3] : "";
	length_ns = strtoull(argv[1], NULL, 10) * 1000000;
	if (strcmp(how, "fork") == 0)
		return fork_children(n, &threads[0]);
	if (strcmp(how, "crowd") == 0 && !begin_crowd())
		return 2;
	in_turn = strcmp(how, "after") == 0 || strcmp(how, "crowd") == 0;
	for (int i = 1; i <= n; i++) {
		if (pthread_create(&threads[i].id, NULL, run, &threads[i]) != 0)
			return 2;
		if (in_turn)
			pthread_join(threads[i].id, NULL);
	}
	run(&threads[0]);
	for (int i = 1; i <= n && !in_turn; i++)
		pthread_join(threads[i].id, NULL);
	for (int i = 0; i <= n; i++)
		print(&threads[i]);
	return 0;
}
