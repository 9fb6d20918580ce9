/* SPDX-License-Identifier: MIT */
/* A library whose constructor takes a lock. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}
