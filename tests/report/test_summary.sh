#!/bin/bash
# SPDX-License-Identifier: MIT
# The summary of a run with known figures: threads, calls, the longest waits with their lines; without kernel
# events, a note tells what is missing.
. "$GM_TOP/tests/lib.sh"
cat >program.c <<'END'
#include <pthread.h>
#include "unit/sleeper.h"
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start;
__attribute__((noinline)) static void enter(void) { pthread_mutex_lock(&guard); }
static void *work(void *tid)
{
	pthread_barrier_wait(&start);
	__atomic_store_n((int *)tid, gettid(), __ATOMIC_RELEASE);
	enter();
	pthread_mutex_unlock(&guard);
	return tid;
}
int main(void)
{
	pthread_t thread[4];
	int tids[4] = {0};
	pthread_barrier_init(&start, 0, 5);
	enter();
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], 0, work, &tids[i]);
	pthread_barrier_wait(&start);
	/* All threads wait for the mutex, and none acquires it. */
	for (int i = 0; i < 4; i++)
		if (!sleeper_await(&tids[i]))
			return 1;
	usleep(300000);
	pthread_mutex_unlock(&guard);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], 0);
	return 3;
}
END
"$CC" -D_GNU_SOURCE -pg -g -O1 -I"$GM_TOP/tests" -o program program.c -pthread || fail "compile"

# summary FILTER: prints the jq expression on the only row.
summary() { "$gprof_mt" report -i "$data" --format json summary | jq -r ".summary[0] | $1"; }
# is FILTER EXPECTED
is() { [ "$(summary "$1")" = "$2" ] || fail "$1: expected $2, got $(summary "$1")"; }

known()
{
	is .command ./program
	is .exit_status 3
	is .processes 1
	is .threads 5
	# main, 4 times work, 5 times enter
	is .calls 10
	# 1 init, 5 waits at the barrier, 5 locks, 5 unlocks, 4 creates, 4 joins
	is .sync_calls 24
	is '.top[0].name' guard
	is '.top[0].type' mutex
	is '.top[0].acquired' 5
	is '.top[0].contended' 4
	is '.top[0].site | test("^work .*program.c:10\\)$")' true
	# Four threads waited while main slept; joins are not listed.
	is '.top[0].wait_ns > 4 * 200000000' true
	is '[.top[].type] | index("thread")' null
	is '.wall_ns > 300000000' true
	is .problems 0
}

data=$PWD/bare.data
"$gprof_mt" record -q -o "$data" --profile applic-only -- ./program
[ $? = 3 ] || fail "record applic-only"
known
is .kernel_source none
is .running_ns null
"$gprof_mt" report -i "$data" summary >text || fail "text"
grep -q 'CPU time  *not known: no scheduling events' text || fail "$(cat text)"
grep -q 'waited most .*guard' text || fail "$(cat text)"
grep -q 'lost  *nothing' text || fail "$(cat text)"

# A line end in an argument does not start a line of the report.
"$gprof_mt" record -q -o forged.data --profile applic-only -- ./program $'x\n  lost         none' 2>/dev/null
"$gprof_mt" report -i forged.data summary >text || fail "an argument with a line end"
grep -qF "command      ./program 'x?  lost         none'" text && [ "$(grep -c '^  lost ' text)" = 1 ] ||
	fail "$(cat text)"

data=$PWD/sched.data
scheduled()
{
	rm -rf "$data"
	"$gprof_mt" record -q -o "$data" --profile full-sched -- ./program
	[ $? = 3 ] || fail "record full-sched"
	[ "$(summary .kernel_source)" != none ] || skip "no scheduling events here"
	known
	is '.running_ns > 0 and .running_ns < .wall_ns' true
	is '.cpus_used < 0.9' true
	# The sum over the threads section.
	total=$("$gprof_mt" report -i "$data" --format json threads | jq '[.threads[].running_ns] | add')
	is .running_ns "$total"
}
retry scheduled
