/* SPDX-License-Identifier: MIT */
/*
 * interrupted_locks steps|timer: signal handlers interrupt one thread while it locks and unlocks a
 * mutex, and lock and unlock another mutex, so that the thread changes between streams.
 *
 * steps: the handler runs after the first instruction of a lock or an unlock, in the next round
 * after the second instruction, and so on; first in the initial thread, then in a thread that ends.
 * timer: the handler runs each millisecond, TIMES times, at whichever instruction the signal comes.
 *
 * Prints the address of the mutex, and on stderr how many times it was locked.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define TIMES	  1000
#define STEPS_MAX 160 /* more than a lock needs after the first one in its stream */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, handlers = PTHREAD_MUTEX_INITIALIZER;
static volatile int steps, step_wanted, times;
static unsigned n_locks;

static void handler(int number)
{
	if (number == SIGTRAP && ++steps != step_wanted)
		return;
	pthread_mutex_lock(&handlers);
	pthread_mutex_unlock(&handlers);
	times++;
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

/* Returns false if the function has fewer instructions. */
static bool interrupted_at(int step, int (*function)(pthread_mutex_t *))
{
	steps = 0;
	step_wanted = step;
	trap(true);
	function(&mutex);
	trap(false);
	return steps >= step;
}

static void *steps_through(void *arg)
{
	bool reached = true;

	for (int step = 1; reached && step < STEPS_MAX; step++, n_locks += 4) {
		reached = interrupted_at(step, pthread_mutex_lock);
		pthread_mutex_unlock(&mutex);
		interrupted_at(step, pthread_mutex_lock);
		pthread_mutex_unlock(&mutex);
		pthread_mutex_lock(&mutex);
		reached |= interrupted_at(step, pthread_mutex_unlock);
		interrupted_at(step, pthread_mutex_lock);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

static void run_timer(void)
{
	struct itimerval each = {{0, 1000}, {0, 1000}}, none = {{0, 0}, {0, 0}};

	setitimer(ITIMER_REAL, &each, NULL);
	for (; times < TIMES; n_locks++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	setitimer(ITIMER_REAL, &none, NULL);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	pthread_t thread;

	if (argc != 2)
		return 2;
	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	if (strcmp(argv[1], "timer") == 0) {
		run_timer();
	} else {
		steps_through(NULL);
		pthread_create(&thread, NULL, steps_through, NULL);
		pthread_join(thread, NULL);
	}
	printf("%p\n", (void *)&mutex);
	fprintf(stderr, "%u\n", n_locks);
	return 0;
}
