/* SPDX-License-Identifier: MIT */
/*
 * Two locks, acquired in one order by main() and in the other by a thread. main() acquires them
 * before it creates the thread ("before"), after it has joined it ("after"), or while the thread
 * exists ("meanwhile", after the thread's locks).
 */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER, lock_b = PTHREAD_MUTEX_INITIALIZER;
static sem_t done, end;

static void take(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static void *work(void *arg)
{
	take(&lock_b, &lock_a);
	sem_post(&done);
	sem_wait(&end);
	return arg;
}

int main(int argc, char **argv)
{
	const char *when = argc > 1 ? argv[1] : "";
	pthread_t thread;

	sem_init(&done, 0, 0);
	sem_init(&end, 0, 0);
	if (strcmp(when, "before") == 0)
		take(&lock_a, &lock_b);
	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	sem_wait(&done);
	if (strcmp(when, "meanwhile") == 0)
		take(&lock_a, &lock_b);
	sem_post(&end);
	pthread_join(thread, NULL);
	if (strcmp(when, "after") == 0)
		take(&lock_a, &lock_b);
	return 0;
}
