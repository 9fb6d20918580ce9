/* SPDX-License-Identifier: MIT */
/* A mutex for look-ups and, one in 16 times, updates; fixed: a read-write lock. */
#include "pair.h"

static pthread_mutex_t config_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t config_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int config;

__attribute__((noinline)) static void look_up(void)
{
	if (IS_FIXED)
		pthread_rwlock_rdlock(&config_rwlock);
	else
		pthread_mutex_lock(&config_lock);
	work(40 + config * 0);
	if (IS_FIXED)
		pthread_rwlock_unlock(&config_rwlock);
	else
		pthread_mutex_unlock(&config_lock);
}

__attribute__((noinline)) static void update(void)
{
	if (IS_FIXED)
		pthread_rwlock_wrlock(&config_rwlock);
	else
		pthread_mutex_lock(&config_lock);
	work(40);
	config++;
	if (IS_FIXED)
		pthread_rwlock_unlock(&config_rwlock);
	else
		pthread_mutex_unlock(&config_lock);
}

static void *run(void *number)
{
	(void)number;
	for (int i = 0; i < N_ROUNDS; i++) {
		work(10);
		if (i % 16 == 0)
			update();
		else
			look_up();
	}
	return NULL;
}

int main(void)
{
	return run_threads(run);
}
