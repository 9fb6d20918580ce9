/* SPDX-License-Identifier: MIT */
/*
 * Preloaded: replaces functions of libc by versions that use every vector register, as a libc built
 * for x86-64-v3 may.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

static void clobber(void)
{
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroall" ::: "memory");
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
	static int (*next)(pthread_key_t, const void *);

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_setspecific");
	clobber();
	return next(key, value);
}

int _dl_find_object(void *address, struct dl_find_object *ret)
{
	static int (*next)(void *, struct dl_find_object *);

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "_dl_find_object");
	clobber();
	return next(address, ret);
}
