/* SPDX-License-Identifier: MIT */
/*
 * One wait for a mutex, one for a semaphore and one for a read-write lock, each ended while the
 * other thread sleeps; many uncontended operations, also in a child of fork; then kills itself.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wait_blocked.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, free_one = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem;
static atomic_int tid, step;

static void *waits(void *arg)
{
	tid = gettid();
	while (step < 1)
		;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	while (step < 2)
		;
	sem_wait(&sem);
	while (step < 3)
		;
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	return arg;
}

static void one_of_each(void)
{
	assert(pthread_mutex_trylock(&free_one) == 0);
	assert(pthread_mutex_trylock(&free_one) != 0);
	pthread_mutex_unlock(&free_one);
	pthread_cond_signal(&cond);
	pthread_cond_broadcast(&cond);
	sem_post(&sem);
	assert(sem_trywait(&sem) == 0);
	pthread_rwlock_rdlock(&rwlock);
	assert(pthread_rwlock_tryrdlock(&rwlock) == 0);
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
}

static void locks(int n)
{
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&free_one);
		pthread_mutex_unlock(&free_one);
	}
}

int main(void)
{
	pthread_t thread;
	pid_t child;
	int status;

	sem_init(&sem, 0, 0);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_lock(&mutex);
	pthread_rwlock_rdlock(&rwlock);
	assert(pthread_create(&thread, NULL, waits, NULL) == 0);
	while (tid == 0)
		;
	step = 1;
	until_asleep(tid);
	pthread_mutex_unlock(&mutex);
	step = 2;
	until_asleep(tid);
	sem_post(&sem);
	step = 3;
	until_asleep(tid);
	pthread_rwlock_unlock(&rwlock);
	pthread_join(thread, NULL);
	one_of_each();
	locks(100000);
	child = fork();
	if (child == 0) {
		locks(7);
		_exit(0);
	}
	assert(waitpid(child, &status, 0) == child && status == 0);
	printf("%d %d %d %p\n", getpid(), tid, child, (void *)&mutex);
	fflush(stdout);
	kill(getpid(), SIGKILL);
	return 0;
}
