/* SPDX-License-Identifier: MIT */
/*
 * A thread starts while another is stopped in a part of the runtime that the new thread needs: a
 * filter that no library sees traps a system call, and the handler does not return before the new
 * thread has had its first events.
 *
 * usage: stalled calls|sync
 * calls: stops where a thread's table of calls grows, in the prctl() that names a helper.
 * sync: stops where a forked child makes its folder, in getppid().
 *
 * The thread goes on for half a second after the stop, then calls `after` and posts AFTER times.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "robust/kills/programs/phase.h"
#include "robust/programs/raw_filter.h"

#define AFTER	   1000
#define CHUNK	   100
#define AFTER_NS   500000000u
#define CHUNK_NS   200000u
#define N_SITES	   65536
#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

extern void __cyg_profile_func_enter(void *function, void *site) __attribute__((weak));
extern const char sites[N_SITES];
__asm__(".text\nsites:\t.skip 65536\n");

enum { NOT_YET, STALLS, HAS_BEGUN, OVER };
static sem_t posts;
static unsigned n_traps, stalling_trap; /* 0: none */
static int makes_thread;
static pthread_t thread;

NOINLINE void before(void)
{
	__asm__ volatile("");
}

NOINLINE void after(void)
{
	__asm__ volatile("");
}

UNPROFILED static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

UNPROFILED static void *run(void *waits)
{
	unsigned long n = CHUNK;
	uint64_t end_ns;

	if (waits != NULL)
		wait_phase(STALLS);
	for (int i = 0; i < CHUNK; i++) {
		before();
		sem_post(&posts);
	}
	set_phase(HAS_BEGUN);
	/* While a thread loses events, the runtime tries every 0.1 s to record it. */
	for (end_ns = now_ns() + AFTER_NS; now_ns() < end_ns; n += CHUNK) {
		uint64_t next_ns = now_ns() + CHUNK_NS;

		for (int i = 0; i < CHUNK; i++) {
			before();
			sem_post(&posts);
		}
		while (now_ns() < next_ns)
			;
	}
	for (int i = 0; i < AFTER; i++) {
		after();
		sem_post(&posts);
	}
	printf("before %lu\nafter %d\nposts %lu\n", n, AFTER, n + AFTER);
	set_phase(OVER);
	return NULL;
}

UNPROFILED static void handle(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	if (++n_traps == stalling_trap) {
		set_phase(STALLS);
		if (makes_thread)
			pthread_create(&thread, NULL, run, NULL);
		wait_phase(HAS_BEGUN);
	}
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 0;
}

UNPROFILED static void *begin(void *unused)
{
	return unused;
}

UNPROFILED static int calls(void)
{
	if (pthread_create(&thread, NULL, run, &thread) != 0 ||
	    raw_filter_trap(SYS_prctl, PR_SET_NAME, handle) != 0)
		return 77;
	stalling_trap = 1;
	for (int i = 0; i < N_SITES && __atomic_load_n(&phase, __ATOMIC_SEQ_CST) < HAS_BEGUN; i++)
		__cyg_profile_func_enter((void *)begin, (void *)(sites + i));
	pthread_join(thread, NULL);
	return phase == OVER ? 0 : 1;
}

UNPROFILED static int in_child(void)
{
	pthread_t first;

	makes_thread = 1;
	stalling_trap = 2; /* the first is the start in the place that the parent prepared */
	sem_post(&posts);
	if (pthread_create(&first, NULL, begin, NULL) != 0)
		return 1;
	pthread_join(first, NULL);
	pthread_join(thread, NULL);
	fflush(stdout);
	return phase == OVER ? 0 : 1;
}

UNPROFILED int main(int argc, char **argv)
{
	int status;
	pid_t child;

	sem_init(&posts, 0, 0);
	if (argc > 1 && strcmp(argv[1], "calls") == 0)
		return calls();
	sem_post(&posts);
	if (raw_filter_trap(SYS_getppid, 0, handle) != 0)
		return 77;
	child = fork();
	if (child == 0)
		_exit(in_child());
	return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
