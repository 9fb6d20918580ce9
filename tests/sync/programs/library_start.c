/* SPDX-License-Identifier: MIT */
/*
 * A library whose constructor runs before that of libsync_trace: two threads lock a mutex. The
 * first opens libsync_trace and is stopped while it creates the capture; the second must sleep
 * meanwhile.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "unit/check.h"
#include "unit/held.h"
#include "unit/sleeper.h"

#define THREADS 2

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int tids[THREADS];
static unsigned locked;
static int listener;

static void *run(void *tid)
{
	if (tid == &tids[0])
		listener = held_begin();
	__atomic_store_n((int *)tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pthread_mutex_lock(&mutex);
	locked++;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* libc's functions, called without the library's wrappers. */
static void *real(const char *name)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	void *function = libc ? dlsym(libc, name) : NULL;

	CHECK(function != NULL);
	return function;
}

__attribute__((constructor)) static void begin(void)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
	    real("pthread_create");
	int (*join)(pthread_t, void **) = real("pthread_join");
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		CHECK_INT(create(&threads[i], NULL, run, &tids[i]), 0);
		CHECK(sleeper_await_by(&tids[i], sleeper_kernel_state)); /* in our library */
	}
	CHECK_INT(locked, 0);
	CHECK(listener >= 0);
	held_let_go(listener);
	close(listener);
	for (int i = 0; i < THREADS; i++)
		CHECK_INT(join(threads[i], NULL), 0);
	CHECK_INT(locked, THREADS);
}
