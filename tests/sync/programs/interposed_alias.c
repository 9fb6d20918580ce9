/* SPDX-License-Identifier: MIT */
/* A library that counts locks and calls glibc's lock function by its second name. */
#include <pthread.h>
#include <stdio.h>

int __pthread_mutex_lock(pthread_mutex_t *mutex);
__asm__(".symver __pthread_mutex_lock,__pthread_mutex_lock@GLIBC_2.2.5");

static unsigned n_locks;

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	n_locks++;
	return __pthread_mutex_lock(mutex);
}

__attribute__((destructor)) static void report(void)
{
	fprintf(stderr, "%u locks\n", n_locks);
}
