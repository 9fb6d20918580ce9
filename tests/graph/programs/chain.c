/* SPDX-License-Identifier: MIT */
/*
 * main holds `inner`; middle holds `outer` and waits for `inner`; two last ones wait for `outer`,
 * behind middle. main releases `inner`, and the others follow. Then all meet at a barrier, main as
 * the last one.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "sync/programs/wait_blocked.h"

static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t met;
static atomic_int tid, n_done;

static void meet(void)
{
	n_done++;
	pthread_barrier_wait(&met);
}

static void *middle(void *unused)
{
	pthread_mutex_lock(&outer);
	tid = gettid();
	pthread_mutex_lock(&inner);
	pthread_mutex_unlock(&inner);
	pthread_mutex_unlock(&outer);
	meet();
	return unused;
}

static void *last(void *unused)
{
	tid = gettid();
	pthread_mutex_lock(&outer);
	pthread_mutex_unlock(&outer);
	meet();
	return unused;
}

static int start(pthread_t *thread, void *(*routine)(void *))
{
	tid = 0;
	assert(pthread_create(thread, NULL, routine, NULL) == 0);
	while (!tid)
		usleep(100);
	until_asleep(tid);
	return tid;
}

int main(void)
{
	pthread_t threads[3];
	int tids[3];

	pthread_barrier_init(&met, NULL, 4);
	pthread_mutex_lock(&inner);
	tids[0] = start(&threads[0], middle);
	tids[1] = start(&threads[1], last);
	tids[2] = start(&threads[2], last);
	pthread_mutex_unlock(&inner);
	while (n_done < 3)
		usleep(100);
	for (int i = 0; i < 3; i++)
		until_asleep(tids[i]);
	pthread_barrier_wait(&met);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
