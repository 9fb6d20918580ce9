/* SPDX-License-Identifier: MIT */
/*
 * met mutex|rwlock holder|waiter: two threads meet at a lock, in each round some instructions
 * later.
 *
 * holder: this thread locks and unlocks.  After the round's instruction the other one locks, too,
 * and from then on gets as far as it can after each instruction: until it has unlocked, sleeps or
 * only spins.
 * waiter: the other thread has the lock and unlocks it after the round's instruction of this
 * thread's lock, or when that sleeps, and then locks and unlocks it twice more.
 *
 * Ends when a round's instruction is behind the last of all; prints the number of rounds.
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
#include <unistd.h>

#define ROUNDS_MAX 20000
#define STRIDE	   3
#define PATIENCE   20 /* glibc's read-write locks spin while this thread is in between */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static bool is_rwlock, is_waiter;
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

/* The other thread, in the middle of this one's instructions. */
static void meet(void)
{
	atomic_store(&round_of_other, round_now);
	for (int i = 0; i < PATIENCE; i++) {
		if (atomic_load(&done_by_other) == round_now || sleeps(other_stat))
			break;
		sched_yield();
	}
}

static void stepped(int number)
{
	(void)number;
	if (++steps >= round_now * STRIDE && atomic_load(&done_by_other) != round_now)
		meet();
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

/* The processor's trap flag: a signal after each instruction. */
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
	struct sigaction action = {.sa_handler = stepped};
	pthread_t thread;
	bool reached = true;

	if (argc != 3)
		return 2;
	is_rwlock = !strcmp(argv[1], "rwlock");
	is_waiter = !strcmp(argv[2], "waiter");
	my_stat = open_stat();
	sigaction(SIGTRAP, &action, NULL);
	pthread_create(&thread, NULL, other, NULL);
	while (reached && round_now < ROUNDS_MAX) {
		atomic_store(&round_of_main, ++round_now);
		while (is_waiter && atomic_load(&locked_by_other) < round_now)
			sched_yield();
		steps = 0;
		trap(true);
		lock();
		unlock();
		trap(false);
		reached = steps >= round_now * STRIDE;
		while (atomic_load(&done_by_other) != round_now)
			meet();
	}
	atomic_store(&over, 1);
	pthread_join(thread, NULL);
	printf("%d\n", round_now);
	return 0;
}
