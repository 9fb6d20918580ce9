/* SPDX-License-Identifier: MIT */
/*
 * Registers handlers of fork() before any other library, because it is linked with `-z initfirst`.
 * Its child handler therefore runs before a profiler's child handler, and its prepare handler after
 * the profiler's.
 */
#include <pthread.h>

static pthread_mutex_t before_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t parent_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t child_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) void early_take(pthread_mutex_t *lock);

__attribute__((noinline)) void early_take(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
}

static void before(void)
{
	early_take(&before_lock);
}

static void in_parent(void)
{
	early_take(&parent_lock);
}

static void in_child(void)
{
	early_take(&child_lock);
}

__attribute__((constructor, no_instrument_function)) static void begin(void)
{
	pthread_atfork(before, in_parent, in_child);
}
