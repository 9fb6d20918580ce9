/* SPDX-License-Identifier: MIT */
/*
 * jumps HOW N: a handler leaves blocking calls by siglongjmp(), N times; after each jump, the
 * thread makes another call, usleep(), and checks whether it can be cancelled as before.  HOW:
 *   blocked  while the thread is blocked in read()
 *   steps    after a number of instructions of poll(), which grows with each jump, until the call
 *            is over (a tracing parent counts them and sends a signal)
 *   async    the same, with asynchronous cancellation
 *
 * Prints the number of jumps.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../sync/programs/wait_blocked.h"

#define STRIDE 199 /* a new path takes some 9,000 instructions, each a stop of 50 us */

static sigjmp_buf out;
static volatile int jumped, armed;
static int type = PTHREAD_CANCEL_DEFERRED;

static void leave(int number)
{
	if (armed)
		siglongjmp(out, number);
}

/* glibc makes cancellation asynchronous during a call, and it remains so after a jump out of it. */
static void check_cancellation(bool was_blocked)
{
	int state, now;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	pthread_setcanceltype(type, &now);
	if (state != PTHREAD_CANCEL_ENABLE || (now != type && !was_blocked)) {
		fprintf(stderr, "after jump %d: cancellation has state %d, type %d\n", jumped,
			state, now);
		exit(1);
	}
}

/* --- blocked -------------------------------------------------------------------------------- */

static int ends[2], rounds;

static void *block(void *arg)
{
	char byte;

	while (jumped < rounds) {
		if (sigsetjmp(out, 1) == 0) {
			armed = 1;
			read(ends[0], &byte, 1);
		}
		armed = 0;
		jumped++;
		check_cancellation(true);
		usleep(100);
	}
	return arg;
}

static pid_t tid_of(pthread_t thread)
{
	clockid_t clock; /* of the thread's CPU time: the complement of its tid, and 3 bits */

	pthread_getcpuclockid(thread, &clock);
	return ~(clock >> 3);
}

static void jump_out_of_read(void)
{
	pthread_t thread;

	if (pipe(ends) != 0)
		exit(1);
	pthread_create(&thread, NULL, block, NULL);
	for (int i = 0; i < rounds; i++) {
		while (jumped < i || !armed)
			sched_yield();
		until_asleep(tid_of(thread));
		pthread_kill(thread, SIGUSR1);
		while (jumped == i)
			sched_yield();
	}
	pthread_join(thread, NULL);
}

/* --- steps ---------------------------------------------------------------------------------- */

static volatile int *steps, over;

static void interrupt_after(int n)
{
	long result;

	*steps = n;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_kill), "D"(getpid()), "S"(SIGSTOP)
			 : "rcx", "r11", "memory");
}

static void jump_out_of_poll(void)
{
	pthread_setcanceltype(type, NULL);
	for (int i = 0; i < rounds && !over; i++) {
		if (sigsetjmp(out, 1) == 0) {
			armed = 1;
			interrupt_after(STRIDE * i);
			poll(NULL, 0, 0);
			armed = 0;
			over = 1;
		} else {
			jumped++;
		}
		armed = 0;
		check_cancellation(false);
		usleep(100);
	}
}

/* Single-steps the child on request, and sends it the signal. */
static int trace(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int number = WSTOPSIG(status);

		if (number == SIGSTOP) {
			number = 0;
			for (int i = 0; i < *steps; i++) {
				ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
				if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
					return 1;
			}
			kill(pid, SIGUSR1);
		}
		ptrace(PTRACE_CONT, pid, NULL, (long)number);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int step(void)
{
	pid_t pid;

	steps =
	    mmap(NULL, sizeof(*steps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (steps == MAP_FAILED)
		return 1;
	pid = fork();
	if (pid != 0)
		return trace(pid);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	usleep(100); /* the call that opens the child's stream is not interrupted */
	jump_out_of_poll();
	printf("%d jumps\n", jumped);
	exit(0);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = leave};
	const char *how = argc > 1 ? argv[1] : "blocked";

	rounds = argc > 2 ? atoi(argv[2]) : 10;
	sigaction(SIGUSR1, &action, NULL);
	if (strcmp(how, "async") == 0)
		type = PTHREAD_CANCEL_ASYNCHRONOUS;
	if (strcmp(how, "blocked") != 0)
		return step();
	jump_out_of_read();
	printf("%d jumps\n", jumped);
	return 0;
}
