#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of a program that uses two locks through one wrapper: it shows the callers of the wrapper.
. "$GM_TOP/tests/page/common.sh"
in_chromium

cat >two.c <<'END_C'
#include <pthread.h>
#include <sched.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, *awaited;
__attribute__((noinline)) int mutex_enter(pthread_mutex_t *mutex) { return pthread_mutex_lock(mutex) + 1; }
static void use_a(void)
{
	mutex_enter(&a); /* A */
	pthread_mutex_unlock(&a);
}
static void use_b(void)
{
	mutex_enter(&b); /* B */
	pthread_mutex_unlock(&b);
}
static void *other(void *use)
{
	((void (*)(void))use)();
	return use;
}
/* The thread waits for the lock until it is seen to wait. */
static void make_wait(pthread_mutex_t *mutex, void (*use)(void))
{
	pthread_t thread;
	awaited = mutex;
	pthread_mutex_lock(mutex);
	pthread_create(&thread, 0, other, (void *)use);
	while (__atomic_load_n(&awaited->__data.__lock, __ATOMIC_ACQUIRE) != 2)
		sched_yield();
	pthread_mutex_unlock(mutex);
	pthread_join(thread, 0);
}
int main(void)
{
	make_wait(&a, use_a);
	make_wait(&b, use_b);
	return 0;
}
END_C
"$CC" -std=gnu17 -O0 -g -pthread -o two two.c || fail "cannot compile"
"$gprof_mt" record -q --set kernel.source=none --set sync.mode=all -o run -- ./two || fail "record: exit status $?"
"$gprof_mt" export -i run --format html -o run.html || fail "export: exit status $?"
exec node "$GM_TOP/tests/page/check_wrappers.mjs" run.html "$(grep -n 'A \*/' two.c | cut -d: -f1)" "$(grep -n 'B \*/' two.c | cut -d: -f1)"
