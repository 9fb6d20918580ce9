#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Two threads compute on one CPU while three wait for them: the machine is the limit, although threads were blocked
# for longer than they were ready to run. It is said within the first ten lines, as are the idle waits.
. "$GM_TOP/tests/lib.sh"

cat >limit.c <<'END'
#include <pthread.h>
#include <time.h>
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int n_left = 2;
/* 0.2 s of the CPU */
static void compute(void)
{
	struct timespec used;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	while (!used.tv_sec && used.tv_nsec < 200000000);
}
static void *busy(void *unused)
{
	compute();
	pthread_mutex_lock(&guard);
	if (--n_left == 0)
		pthread_cond_broadcast(&done);
	pthread_mutex_unlock(&guard);
	return unused;
}
static void *idle(void *unused)
{
	pthread_mutex_lock(&guard);
	while (n_left)
		pthread_cond_wait(&done, &guard);
	pthread_mutex_unlock(&guard);
	return unused;
}
int main(void)
{
	pthread_t threads[5];
	for (int i = 0; i < 5; i++)
		pthread_create(&threads[i], 0, i < 3 ? idle : busy, 0);
	for (int i = 0; i < 5; i++)
		pthread_join(threads[i], 0);
}
END
"$CC" -g -O1 -o limit limit.c -pthread || fail "compile"
cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
taskset -c "$cpu" "$gprof_mt" record -q --profile full-sched -- ./limit || fail "record"
"$gprof_mt" report summary | sed '/^  /!d' >text
grep -q 'ready without a CPU' text || skip "no scheduling events with wakings here"
ready() { "$gprof_mt" report --format json summary | jq ".summary[0] | $1"; }
[ "$(ready '.runnable_ns < .blocked_sync_ns')" = true ] || fail "expected more time blocked than ready: $(cat text)"
head -n 10 text >first
grep -q '^  limit  *the machine' first || fail "no limit: $(cat text)"
grep -q '^  idle .*longest .* for done' first || fail "no idle waits: $(cat text)"
! grep '^  waited most .*done' text || fail "an idle wait is not named as one"
