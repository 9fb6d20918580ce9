/* SPDX-License-Identifier: MIT */
/*
 * Threads one after the other, in each of which a handler posts in the middle of a post, after each
 * of its instructions, so that the thread has two writers. They end by a system call that no
 * library sees. Prints the number of posts.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define N_THREADS 1500
#define TRAP_FLAG 0x100

static sem_t posts;
static unsigned n_posts;
static volatile int steps;

static void post(void)
{
	sem_post(&posts);
	n_posts++;
}

static void trapped(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number;
	(void)info;
	if (++steps == 12 || steps == 24)
		post();
	if (steps == 24)
		registers[REG_EFL] &= ~TRAP_FLAG;
}

static void *run(void *unused)
{
	(void)unused;
	post();
	steps = 0;
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "memory", "cc");
	sem_post(&posts);
	__asm__ volatile("pushfq; andq %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "memory", "cc");
	n_posts++;
	syscall(SYS_exit, 0);
	return NULL;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
	pthread_t thread;

	sem_init(&posts, 0, 0);
	sigaction(SIGTRAP, &action, NULL);
	for (int i = 0; i < N_THREADS; i++) {
		if (pthread_create(&thread, NULL, run, NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	printf("%u\n", n_posts);
	return 0;
}
