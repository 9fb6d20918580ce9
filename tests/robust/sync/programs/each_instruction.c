/* SPDX-License-Identifier: MIT */
/*
 * each_instruction mutex|rwlock holder|waiter [crossed]: two threads contend for a lock.  In each
 * round the second thread acts a few instructions later in the first thread's lock and unlock.
 *
 * crossed: while it holds the lock, the first thread locks another mutex, which it unlocks last.
 *
 * holder: the first thread locks and unlocks.  After the round's instruction, the second thread
 * locks, too; after each further instruction of the first thread, the second one runs until it has
 * unlocked or sleeps, or for a limited time if it spins.
 *
 * waiter: the second thread holds the lock and unlocks it after the round's instruction of the
 * first thread's lock, or when the first thread sleeps.  Then it locks and unlocks twice more.
 *
 * Both run before all other processes, if they may: each instruction needs several switches between
 * them, and on a busy machine others would run in between.
 *
 * Ends when the instructions of several rounds lie behind the last one; prints the number of
 * rounds.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define ROUNDS_MAX 20000
#define STRIDE	   3
#define MISSES_MAX 10 /* some locks take more instructions: the clock is set now and then */
#define PATIENCE   20 /* glibc's read-write locks spin while the first thread is stopped */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, last = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static bool is_rwlock, is_waiter, is_crossed;
static int other_stat, my_stat; /* /proc/self/task/TID/stat */
static atomic_int round_of_main, round_of_other, done_by_other, locked_by_other, over;
static volatile int steps, round_now;

static void lock(void)
{
	if (is_rwlock ? pthread_rwlock_wrlock(&rwlock) : pthread_mutex_lock(&mutex))
		abort();
}

static void unlock(void)
{
	if (is_rwlock ? pthread_rwlock_unlock(&rwlock) : pthread_mutex_unlock(&mutex))
		abort();
}

static void lock_first(void)
{
	lock();
	if (is_crossed && pthread_mutex_lock(&last))
		abort();
}

static void unlock_first(void)
{
	unlock();
	if (is_crossed && pthread_mutex_unlock(&last))
		abort();
}

static int open_stat(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)gettid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		abort();
	return fd;
}

static bool sleeps(int stat)
{
	char text[512];
	ssize_t n = pread(stat, text, sizeof(text) - 1, 0);
	const char *state;

	if (n <= 0)
		return false;
	text[n] = '\0';
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

/* Lets the other thread run between two instructions of this one. */
static void meet(void)
{
	atomic_store(&round_of_other, round_now);
	for (int i = 0; i < PATIENCE; i++) {
		if (atomic_load(&done_by_other) == round_now || sleeps(other_stat))
			break;
		sched_yield();
	}
}

/* After each instruction, until the second thread has unlocked. */
static void stepped(int number, siginfo_t *info, void *context)
{
	ucontext_t *state = context;

	(void)number;
	(void)info;
	if (++steps >= round_now * STRIDE && atomic_load(&done_by_other) != round_now)
		meet();
	if (atomic_load(&done_by_other) == round_now)
		state->uc_mcontext.gregs[REG_EFL] &= ~0x100LL;
}

static void *other(void *arg)
{
	other_stat = open_stat();
	for (int round = 1;; round++) {
		while (atomic_load(&round_of_main) < round && !atomic_load(&over))
			sched_yield();
		if (atomic_load(&over))
			break;
		if (is_waiter) {
			lock();
			atomic_store(&locked_by_other, round);
			while (atomic_load(&round_of_other) < round && !sleeps(my_stat))
				sched_yield();
			unlock();
			for (int i = 0; i < 2; i++) {
				lock();
				unlock();
			}
		} else {
			while (atomic_load(&round_of_other) < round)
				sched_yield();
			lock();
			unlock();
		}
		atomic_store(&done_by_other, round);
	}
	return arg;
}

/* Sets or clears the processor's trap flag, which raises SIGTRAP after each instruction. */
static inline void trap(bool on)
{
	__asm__ volatile("pushfq\n\t"
			 "andq $~0x100, (%%rsp)\n\t"
			 "orq %0, (%%rsp)\n\t"
			 "popfq"
			 :
			 : "r"(on ? 0x100ul : 0ul)
			 : "memory", "cc");
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = stepped, .sa_flags = SA_SIGINFO};
	struct sched_param first = {.sched_priority = 1};
	pthread_t thread;
	int misses = 0;

	if (argc < 3)
		return 2;
	is_rwlock = !strcmp(argv[1], "rwlock");
	is_waiter = !strcmp(argv[2], "waiter");
	is_crossed = argc > 3;
	my_stat = open_stat();
	sched_setscheduler(0, SCHED_RR, &first);
	sigaction(SIGTRAP, &action, NULL);
	pthread_create(&thread, NULL, other, NULL);
	while (misses < MISSES_MAX && round_now < ROUNDS_MAX) {
		atomic_store(&round_of_main, ++round_now);
		while (is_waiter && atomic_load(&locked_by_other) < round_now)
			sched_yield();
		steps = 0;
		trap(true);
		lock_first();
		unlock_first();
		trap(false);
		misses = steps >= round_now * STRIDE ? 0 : misses + 1;
		while (atomic_load(&done_by_other) != round_now)
			meet();
	}
	atomic_store(&over, 1);
	pthread_join(thread, NULL);
	printf("%d\n", round_now);
	return 0;
}
