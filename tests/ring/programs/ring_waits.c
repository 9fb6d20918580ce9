/* SPDX-License-Identifier: MIT */
/*
 * ring_waits THREADS: THREADS threads lock and unlock `busy` every millisecond; main() obeys the
 * lines on stdin, and answers each with its name on stdout, and the nanoseconds that it took:
 *   wait NS   a thread holds `gate` until main() sleeps on it, and NS nanoseconds longer
 *   hold NS   main() holds `kept` for NS nanoseconds
 *   call NS   main() sleeps NS nanoseconds in nanosleep()
 *   leave NS  a thread waits for `gate` until the program ends, NS nanoseconds at least
 *   pair NS   two threads wait for `gate` at the same time, as for "wait"
 * At the end of stdin it ends.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER,
		       kept = PTHREAD_MUTEX_INITIALIZER;
static long hold_ns;
static int is_held, is_over;

static long now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void spin_ns(long ns)
{
	long until = now_ns() + ns;

	while (now_ns() < until)
		;
}

static void *lock_on(void *arg)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		for (int i = 0; i < 10; i++) {
			pthread_mutex_lock(&busy);
			pthread_mutex_unlock(&busy);
		}
		usleep(1000);
	}
	return arg;
}

/* 2 in glibc's word: a thread waits. */
static void *hold(void *arg)
{
	pthread_mutex_lock(&gate);
	__atomic_store_n(&is_held, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&gate.__data.__lock, __ATOMIC_RELAXED) != 2)
		usleep(100);
	spin_ns(hold_ns);
	pthread_mutex_unlock(&gate);
	return arg;
}

static void wait_for_gate(void)
{
	pthread_t holder;

	is_held = 0;
	pthread_create(&holder, NULL, hold, NULL);
	while (!__atomic_load_n(&is_held, __ATOMIC_ACQUIRE))
		usleep(100);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	pthread_join(holder, NULL);
}

static void *wait_too(void *arg)
{
	while (!__atomic_load_n(&is_held, __ATOMIC_ACQUIRE))
		usleep(100);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return arg;
}

static void wait_in_pair(void)
{
	pthread_t other;

	is_held = 0;
	pthread_create(&other, NULL, wait_too, NULL);
	wait_for_gate();
	pthread_join(other, NULL);
}

static void *wait_on(void *arg)
{
	pthread_mutex_lock(&gate);
	return arg;
}

static void leave_waiting(long ns)
{
	pthread_t waiter;

	pthread_mutex_lock(&gate);
	pthread_create(&waiter, NULL, wait_on, NULL);
	while (__atomic_load_n(&gate.__data.__lock, __ATOMIC_RELAXED) != 2)
		usleep(100);
	spin_ns(ns);
}

static void obey(const char *command, long ns)
{
	const struct timespec time = {ns / 1000000000, ns % 1000000000};

	hold_ns = ns;
	if (strcmp(command, "wait") == 0) {
		wait_for_gate();
	} else if (strcmp(command, "hold") == 0) {
		pthread_mutex_lock(&kept);
		spin_ns(ns);
		pthread_mutex_unlock(&kept);
	} else if (strcmp(command, "call") == 0) {
		nanosleep(&time, NULL);
	} else if (strcmp(command, "leave") == 0) {
		leave_waiting(ns);
	} else if (strcmp(command, "pair") == 0) {
		wait_in_pair();
	}
}

int main(int argc, char **argv)
{
	int n_threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t *threads = calloc((size_t)n_threads, sizeof(*threads));
	char command[16];
	long ns;

	for (int i = 0; i < n_threads; i++)
		pthread_create(&threads[i], NULL, lock_on, NULL);
	puts("ready");
	fflush(stdout);
	while (scanf("%15s %ld", command, &ns) == 2) {
		long begin_ns = now_ns();

		obey(command, ns);
		printf("%s %ld\n", command, now_ns() - begin_ns);
		fflush(stdout);
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
