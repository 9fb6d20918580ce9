/* SPDX-License-Identifier: MIT */
/*
 * cancelled_wait exit|cancel PLUGIN: a thread waits for a condition.  The plugin's constructor,
 * which runs while the loader's lock is held, ends this thread and joins it: by pthread_cancel(),
 * or by a signal whose handler calls pthread_exit().
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_t waiter;
static bool is_exit;
static int n_cleaned;

void end_waiter(void); /* the plugin's constructor calls it */

static void handler(int number)
{
	(void)number;
	pthread_exit(NULL);
}

static void cleans(void *arg)
{
	n_cleaned++;
	pthread_mutex_unlock(arg);
}

static void *waits(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(cleans, &mutex);
	for (;;)
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(0);
	return arg;
}

static void *exits(void *arg)
{
	pthread_exit(arg);
}

void end_waiter(void)
{
	if (is_exit)
		pthread_kill(waiter, SIGUSR1);
	else
		pthread_cancel(waiter);
	pthread_join(waiter, NULL);
}

int main(int argc, char **argv)
{
	pthread_t first;

	if (argc != 3)
		return 2;
	is_exit = strcmp(argv[1], "exit") == 0;
	signal(SIGUSR1, handler);
	/* Makes glibc load libgcc_s, which it needs to unwind, before dlopen(). */
	pthread_create(&first, NULL, exits, NULL);
	pthread_join(first, NULL);
	pthread_create(&waiter, NULL, waits, NULL);
	while (__atomic_load_n(&cond.__data.__wrefs, __ATOMIC_RELAXED) == 0)
		sched_yield();
	if (dlopen(argv[2], RTLD_NOW) == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	printf("%d\n", n_cleaned);
	return 0;
}
