/* SPDX-License-Identifier: MIT */
/*
 * Threads that acquire locks of all kinds, and log each acquisition while they hold the lock:
 * logged N_ROUNDS [fork]. Prints "LOCK THREAD..." for each lock: the threads in the order in which
 * they acquired it exclusively. With `fork`, a child does the same, and the parent waits for it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_THREADS 4
#define MOST	  100000

enum { MUTEX, RECURSIVE, RWLOCK, SPIN, QUEUE, N_LOCKS };
static const char *const names[N_LOCKS] = {"mutex", "recursive", "rwlock", "spin", "queue"};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;

static unsigned char by[N_LOCKS][MOST];
static int n_by[N_LOCKS];
static int n_rounds, turn;
static __thread unsigned char self;

static void note(int lock)
{
	if (n_by[lock] == MOST)
		abort();
	by[lock][n_by[lock]++] = self;
}

static void lock_mutex(int i)
{
	struct timespec late;

	clock_gettime(CLOCK_REALTIME, &late);
	late.tv_sec += 100;
	if (i % 3 == 0)
		pthread_mutex_lock(&mutex);
	else if (i % 3 == 1)
		pthread_mutex_timedlock(&mutex, &late);
	else
		while (pthread_mutex_trylock(&mutex))
			;
	note(MUTEX);
	pthread_mutex_unlock(&mutex);
}

static void lock_again(void)
{
	pthread_mutex_lock(&recursive);
	note(RECURSIVE);
	pthread_mutex_lock(&recursive);
	note(RECURSIVE);
	pthread_mutex_unlock(&recursive);
	pthread_mutex_unlock(&recursive);
}

static void lock_rwlock(int i)
{
	if (i % 4 == 0) {
		pthread_rwlock_wrlock(&rwlock);
		note(RWLOCK);
	} else {
		pthread_rwlock_rdlock(&rwlock);
	}
	pthread_rwlock_unlock(&rwlock);
}

/* Each thread in turn. */
static void lock_queue(void)
{
	pthread_mutex_lock(&queue);
	note(QUEUE);
	while (turn % N_THREADS != self) {
		pthread_cond_wait(&turned, &queue);
		note(QUEUE);
	}
	turn++;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&queue);
}

static void *work(void *argument)
{
	self = (unsigned char)(size_t)argument;
	for (int i = 0; i < n_rounds; i++) {
		lock_mutex(i);
		lock_again();
		lock_rwlock(i);
		pthread_spin_lock(&spin);
		note(SPIN);
		pthread_spin_unlock(&spin);
		if (i % 10 == 0)
			lock_queue();
	}
	return NULL;
}

static void run(void)
{
	pthread_t threads[N_THREADS];

	for (size_t i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int lock = 0; lock < N_LOCKS; lock++) {
		printf("%s", names[lock]);
		for (int i = 0; i < n_by[lock]; i++)
			printf(" %d", by[lock][i]);
		putchar('\n');
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	pid_t child;
	int status = 0;

	n_rounds = argc > 1 ? atoi(argv[1]) : 10;
	pthread_spin_init(&spin, 0);
	if (argc > 2 && strcmp(argv[2], "fork") == 0) {
		self = 0;
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		child = fork();
		if (child != 0)
			return waitpid(child, &status, 0) != child || status != 0;
	}
	run();
	return 0;
}
