/* SPDX-License-Identifier: MIT */
/*
 * idle ROUNDS: three workers wait for work on a semaphore and do it with one mutex, `hot`, held;
 * main() waits on a condition until all is done; a cleaner waits for time.  main() also works
 * between rounds, so that the workers wait for longer than they work.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define N_WORKERS 3

static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t cleaner_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cleaner_timer = PTHREAD_COND_INITIALIZER;
static sem_t work;
static int n_left, n_entered;
static bool is_over;

static void compute(void)
{
	for (volatile long i = 0; i < 4000000; i++)
		;
}

/*
 * Each worker of a round, except the last, waits until another one sleeps for the mutex: then
 * glibc's lock word is 2.
 */
static void work_alone(void)
{
	pthread_mutex_lock(&hot);
	while (n_entered % N_WORKERS != N_WORKERS - 1 &&
	       __atomic_load_n(&hot.__data.__lock, __ATOMIC_RELAXED) != 2)
		sched_yield();
	n_entered++;
	compute();
	pthread_mutex_unlock(&hot);
}

static void *run_worker(void *arg)
{
	for (;;) {
		sem_wait(&work);
		if (is_over)
			return arg;
		work_alone();
		pthread_mutex_lock(&guard);
		if (--n_left == 0)
			pthread_cond_signal(&all_done);
		pthread_mutex_unlock(&guard);
	}
}

static void *run_cleaner(void *arg)
{
	struct timespec until;

	pthread_mutex_lock(&cleaner_mutex);
	while (!is_over) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 20000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&cleaner_timer, &cleaner_mutex, &until);
	}
	pthread_mutex_unlock(&cleaner_mutex);
	return arg;
}

static void run_round(void)
{
	pthread_mutex_lock(&guard);
	n_left = N_WORKERS;
	pthread_mutex_unlock(&guard);
	for (int i = 0; i < N_WORKERS; i++)
		sem_post(&work);
	pthread_mutex_lock(&guard);
	while (n_left > 0)
		pthread_cond_wait(&all_done, &guard);
	pthread_mutex_unlock(&guard);
	for (int i = 0; i < 4; i++)
		compute();
}

int main(int argc, char **argv)
{
	pthread_t workers[N_WORKERS], cleaner;
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	sem_init(&work, 0, 0);
	for (int i = 0; i < N_WORKERS; i++)
		pthread_create(&workers[i], NULL, run_worker, NULL);
	pthread_create(&cleaner, NULL, run_cleaner, NULL);
	for (int i = 0; i < rounds; i++)
		run_round();
	pthread_mutex_lock(&cleaner_mutex);
	is_over = true;
	pthread_mutex_unlock(&cleaner_mutex);
	for (int i = 0; i < N_WORKERS; i++)
		sem_post(&work);
	for (int i = 0; i < N_WORKERS; i++)
		pthread_join(workers[i], NULL);
	pthread_join(cleaner, NULL);
	return 0;
}
