/* SPDX-License-Identifier: MIT */
/* Children whose first operation creates threads, which then all start at the same time. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 60
#define THREADS	 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *lock(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void child(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert(pthread_create(&threads[i], NULL, lock, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		assert(pthread_join(threads[i], NULL) == 0);
	_exit(0);
}

int main(void)
{
	lock(NULL);
	for (int i = 0; i < CHILDREN; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			child();
		assert(waitpid(pid, &status, 0) == pid && status == 0);
	}
	return 3;
}
