/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of pthread_mutex_lock() and pthread_mutex_unlock() that do nothing or, with -DCLOCK,
 * read the TSC once per pair: the least that interposing them can cost. With -DFILLER they execute
 * as many instructions as recording does, which access no memory.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

static int (*lock)(pthread_mutex_t *), (*unlock)(pthread_mutex_t *);

__attribute__((constructor)) static void begin(void)
{
	lock = dlvsym(RTLD_NEXT, "pthread_mutex_lock", "GLIBC_2.2.5");
	unlock = dlvsym(RTLD_NEXT, "pthread_mutex_unlock", "GLIBC_2.2.5");
}

static void fill(void)
{
#ifdef FILLER
	__asm__ volatile("rdtsc\n\t"
			 ".rept 42\n\t"
			 "add $1, %%eax\n\t"
			 "add $1, %%edx\n\t"
			 ".endr"
			 :
			 :
			 : "rax", "rdx", "memory");
#endif
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int result;

	if (!lock)
		begin();
	result = lock(mutex);
#ifdef CLOCK
	__asm__ volatile("rdtsc" : : : "rax", "rdx", "memory");
#endif
	fill();
	return result;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (!unlock)
		begin();
	fill();
	return unlock(mutex);
}
