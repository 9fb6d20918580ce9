/* SPDX-License-Identifier: MIT */
/*
 * Forks while threads lock, from the main thread and from another; each child locks, creates a
 * thread that locks, and forks once more.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOCKS	 50
#define CHILDREN 4

static pthread_mutex_t mutexes[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
				     PTHREAD_MUTEX_INITIALIZER};

static void *lock(void *arg)
{
	for (int i = 0; i < LOCKS; i++) {
		pthread_mutex_lock(arg);
		pthread_mutex_unlock(arg);
	}
	return NULL;
}

static void lock_in_thread(pthread_mutex_t *mutex)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, lock, mutex) != 0)
		_exit(1);
	pthread_join(thread, NULL);
}

static void wait_for_child(void)
{
	int status;

	if (wait(&status) < 0 || status != 0)
		_exit(2);
}

static void fork_one(pthread_mutex_t *mutex, int generations)
{
	pid_t pid = fork();

	if (pid < 0)
		_exit(3);
	if (pid == 0) {
		lock(mutex);
		lock_in_thread(mutex);
		if (generations > 1)
			fork_one(mutex, generations - 1);
		exit(0);
	}
	wait_for_child();
}

static void *fork_some(void *arg)
{
	for (int i = 0; i < CHILDREN; i++)
		fork_one(arg, 2);
	return NULL;
}

int main(void)
{
	pthread_t locker, forker;

	if (pthread_create(&locker, NULL, lock, &mutexes[0]) != 0 ||
	    pthread_create(&forker, NULL, fork_some, &mutexes[1]) != 0)
		return 4;
	fork_some(&mutexes[2]);
	pthread_join(forker, NULL);
	pthread_join(locker, NULL);
	return 0;
}
