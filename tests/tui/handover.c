/* SPDX-License-Identifier: MIT */
/*
 * Two threads wait for a mutex that main() holds, and acquire it one after the other. Then the
 * first waits for a semaphore that main() posts, and the second for a condition that main()
 * signals. Another semaphore is never posted: main() waits for it until a time that has passed. The
 * program continues until it reads a line.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../unit/sleeper.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER;
static sem_t empty, never;
static atomic_int tids[2];
static atomic_bool had_it;
static atomic_bool waits;
static bool is_posted;

/* The thread sleeps nowhere else. */
static bool sleeps(int tid)
{
	return sleeper_state(tid) == 'S';
}

static void *wait_for_it(void *number)
{
	atomic_store((atomic_int *)number, (int)syscall(SYS_gettid));
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	if (number == &tids[0]) {
		atomic_store(&had_it, true);
		sem_wait(&empty);
		return NULL;
	}
	pthread_mutex_lock(&guard);
	atomic_store(&waits, true);
	while (!is_posted)
		pthread_cond_wait(&posted, &guard);
	pthread_mutex_unlock(&guard);
	return NULL;
}

static void wake_both(void)
{
	while (!atomic_load(&had_it) || !sleeps(atomic_load(&tids[0])))
		sched_yield();
	sem_post(&empty);
	while (!atomic_load(&waits))
		sched_yield();
	pthread_mutex_lock(&guard);
	is_posted = true;
	pthread_cond_signal(&posted);
	pthread_mutex_unlock(&guard);
}

int main(void)
{
	pthread_t threads[2];
	struct timespec now;

	sem_init(&empty, 0, 0);
	sem_init(&never, 0, 0);
	clock_gettime(CLOCK_REALTIME, &now);
	sem_timedwait(&never, &now);
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 2; i++) {
		pthread_create(&threads[i], NULL, wait_for_it, &tids[i]);
		while (!sleeps(atomic_load(&tids[i])))
			sched_yield();
	}
	pthread_mutex_unlock(&mutex);
	wake_both();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	puts("handed");
	fflush(stdout);
	return getchar() == EOF;
}
