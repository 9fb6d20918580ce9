/* SPDX-License-Identifier: MIT */
/*
 * <threads.h>: calls each function a known number of times; prints each result and the addresses of
 * the objects.
 */
#include <assert.h>
#include <stdio.h>
#include <sys/stat.h>
#include <threads.h>
#include <time.h>

#define THREADS 3
#define ROUNDS	500

static mtx_t mutex, timed;
static cnd_t cond;
static once_flag flag = ONCE_FLAG_INIT;
static int turn, runs;
static long counter;

static void routine(void)
{
	runs++;
}

static int work(void *arg)
{
	int self = (int)(long)arg;

	call_once(&flag, routine);
	for (int i = 0; i < ROUNDS; i++) {
		assert(mtx_lock(&mutex) == thrd_success);
		counter++;
		assert(mtx_unlock(&mutex) == thrd_success);
	}
	assert(mtx_lock(&mutex) == thrd_success);
	while (turn != self)
		assert(cnd_wait(&cond, &mutex) == thrd_success);
	turn++;
	assert(cnd_broadcast(&cond) == thrd_success);
	assert(mtx_unlock(&mutex) == thrd_success);
	if (self == 1)
		thrd_exit(40 + self);
	return 40 + self;
}

static int try(void *arg)
{
	struct timespec past = {1, 0};

	printf("trylock of a taken one %d\n", mtx_trylock(arg));
	printf("timedlock %d\n", mtx_timedlock(arg, &past));
	return 0;
}

int main(void)
{
	struct timespec past = {1, 0};
	struct stat tasks;
	thrd_t thread[THREADS], one;
	int value = -1;

	printf("mutex %p\ntimed %p\ncond %p\nonce %p\n", (void *)&mutex, (void *)&timed,
	       (void *)&cond, (void *)&flag);
	assert(mtx_init(&mutex, mtx_plain) == thrd_success);
	assert(mtx_init(&timed, mtx_timed | mtx_recursive) == thrd_success);
	assert(cnd_init(&cond) == thrd_success);
	for (long i = 0; i < THREADS; i++)
		assert(thrd_create(&thread[i], work, (void *)i) == thrd_success);
	for (int i = 0; i < THREADS; i++) {
		assert(thrd_join(thread[i], &value) == thrd_success);
		printf("thread %d returned %d\n", i, value);
	}
	assert(counter == THREADS * ROUNDS && runs == 1);
	assert(mtx_lock(&timed) == thrd_success && mtx_trylock(&timed) == thrd_success);
	assert(thrd_create(&one, try, &timed) == thrd_success);
	assert(thrd_join(one, NULL) == thrd_success);
	assert(mtx_lock(&mutex) == thrd_success);
	printf("timedwait %d\n", cnd_timedwait(&cond, &mutex, &past));
	assert(mtx_unlock(&mutex) == thrd_success);
	assert(cnd_signal(&cond) == thrd_success);
	assert(mtx_unlock(&timed) == thrd_success && mtx_unlock(&timed) == thrd_success);
	assert(thrd_create(&one, work, (void *)(long)THREADS) == thrd_success);
	assert(thrd_detach(one) == thrd_success);
	mtx_lock(&mutex);
	while (turn != THREADS + 1)
		cnd_wait(&cond, &mutex);
	mtx_unlock(&mutex);
	while (stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 3)
		thrd_yield(); /* the detached thread is about to end */
	mtx_destroy(&timed);
	return 9;
}
