/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of the functions that create a thread-specific key: the program can have all
 * PTHREAD_KEYS_MAX keys, as without profiling.
 *
 * The runtime uses one key, to notice the ends of threads (threads.c). When the last other one is
 * taken, the runtime deletes its own, and the program gets that one. From then on, ends of threads
 * are noticed later, as if the program itself had deleted the key.
 *
 * Not part of libgmon_mt.a: there the program's own C library defines these names.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <threads.h>

#include "runtime/process/threads.h"

#define EXPORTED __attribute__((visibility("default")))

/* Of all three: tss_t is the type of pthread_key_t, and success is 0. */
typedef int create_fn(pthread_key_t *ret_key, void (*destructor)(void *));

/* glibc exports it without a declaration. */
create_fn __pthread_key_create;

/* The next functions of these names; NULL: not looked up yet. */
static create_fn *next_create, *next_old_create, *next_tss_create;

static void resolve(void)
{
	if (next_create != NULL)
		return;
	*(void **)&next_tss_create = dlsym(RTLD_NEXT, "tss_create");
	*(void **)&next_old_create = dlsym(RTLD_NEXT, "__pthread_key_create");
	*(void **)&next_create = dlsym(RTLD_NEXT, "pthread_key_create");
}

__attribute__((constructor(101))) static void begin(void)
{
	resolve();
}

static int create(create_fn *const *next, pthread_key_t *ret_key, void (*destructor)(void *))
{
	int result;

	resolve();
	result = (*next)(ret_key, destructor);
	if (result != 0 && gm_thread_watch_give_up())
		result = (*next)(ret_key, destructor);
	return result;
}

EXPORTED int pthread_key_create(pthread_key_t *ret_key, void (*destructor)(void *))
{
	return create(&next_create, ret_key, destructor);
}

/* libstdc++ and programs built before glibc 2.34 call this name. */
EXPORTED int __pthread_key_create(pthread_key_t *ret_key, void (*destructor)(void *))
{
	return create(&next_old_create, ret_key, destructor);
}

EXPORTED int tss_create(tss_t *ret_key, tss_dtor_t destructor)
{
	return create(&next_tss_create, ret_key, destructor);
}
