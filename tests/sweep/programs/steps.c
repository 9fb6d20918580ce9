/* SPDX-License-Identifier: MIT */
/*
 * steps KIND WORKLOAD [THREADS]: its run time follows from sleeps, and so does not depend on other
 * load, but for kind busy.
 *
 * - lock: each thread (3) sleeps for 2 ms times WORKLOAD while it holds a lock
 * - sleep: the same without a lock
 * - queue: the same, in two parts, and instead of a lock with a flag and a condition variable
 * - busy: each thread uses its CPU for 10 ms times WORKLOAD, divided by their number
 * - same: the same time for each workload
 * - fail: exits with status 3 if the workload is 2 or more; prints the workload before
 * - odd: exits with status 3 in every other run, as a file tells
 * - hang: waits forever if the workload is 2 or more, with a child that does the same
 * - crash: aborts if the workload is 2 or more
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int workload, has_lock, is_taken;

static void sleep_for(int ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000L};

	nanosleep(&time, NULL);
}

static void *work(void *unused)
{
	if (has_lock)
		pthread_mutex_lock(&table);
	sleep_for(2 * workload);
	if (has_lock)
		pthread_mutex_unlock(&table);
	return unused;
}

static void *take_turns(void *unused)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&table);
		while (is_taken)
			pthread_cond_wait(&turn, &table);
		is_taken = 1;
		pthread_mutex_unlock(&table);
		sleep_for(workload);
		pthread_mutex_lock(&table);
		is_taken = 0;
		pthread_cond_signal(&turn);
		pthread_mutex_unlock(&table);
		sleep_for(1); /* so that another one takes the next turn */
	}
	return unused;
}

static void *use_cpu(void *unused)
{
	struct timespec time = {0};

	while (time.tv_sec * 1000L + time.tv_nsec / 1000000 < workload)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return unused;
}

static int run_threads(int n, void *(*run)(void *))
{
	pthread_t threads[64];

	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* True in every other run. */
static int is_odd(void)
{
	if (unlink("even") == 0)
		return 1;
	close(open("even", O_CREAT | O_WRONLY, 0600));
	return 0;
}

/* Adds its pid to a file first. */
static void hang(void)
{
	FILE *pids = fopen("pids", "a");

	fprintf(pids, "%d\n", (int)getpid());
	fclose(pids);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *kind = argv[1];

	workload = atoi(argv[2]);
	printf("%s %d\n", kind, workload);
	fflush(stdout);
	has_lock = strcmp(kind, "lock") == 0;
	if (strcmp(kind, "same") == 0)
		workload = 5;
	if (strcmp(kind, "fail") == 0)
		return workload >= 2 ? 3 : 0;
	if (strcmp(kind, "odd") == 0 && is_odd())
		return 3;
	if (strcmp(kind, "crash") == 0 && workload >= 2)
		abort();
	if (strcmp(kind, "hang") == 0 && workload >= 2) {
		fork();
		hang();
	}
	if (strcmp(kind, "busy") == 0) {
		workload = 10 * workload / atoi(argv[3]);
		return run_threads(atoi(argv[3]), use_cpu);
	}
	return run_threads(argc > 3 ? atoi(argv[3]) : 3,
			   strcmp(kind, "queue") == 0 ? take_turns : work);
}
