#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sync.mode = auto: a thread that only locks is recorded in full until this exceeds sync.budget; from then
# on its operations are counted, and none is missing.  A thread that locks little is recorded in full.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need jq
"$CC" -std=gnu17 -O2 -pthread -o bench "$GM_TOP/tests/bench/bench_sync.c" || fail "cannot compile"
unset GPROF_MT_CONFIG LD_PRELOAD
printf '[sync]\nmode = auto\nbudget = 5\n' >auto.conf

# run N: locks N times; sets calls (in the report), bytes and switched (threads)
run()
{
	fresh env GPROF_MT_CONFIG="$PWD/auto.conf" LD_PRELOAD="$libsync" ./bench uncontended "$1" >out ||
		fail "exit status $?"
	"$gprof_mt" report --format json sync quality >report.json || fail "report: exit status $?"
	[ "$(jq '.quality | length' report.json)" = 0 ] ||
		{ jq .quality report.json; fail "contradictions in what was recorded"; }
	calls=$(jq '[.sync[] | select(.function | test("mutex_(un)?lock$")) | .calls] | add' report.json)
	bytes=$(du -sb gprof-mt.data | cut -f 1)
	switched=$("$gprof_mt" report sync | grep -c 'threads recorded in full until')
	echo "$1 pairs: $calls operations reported, $bytes bytes, switched: $switched"
	[ "$calls" = $((2 * $1)) ] || fail "expected $((2 * $1)) operations, found $calls"
}

for _ in 1 2 3; do
	run 5000000
	[ "$switched" = 1 ] || fail "a thread that only locks is recorded in full to its end"
	# In full it is 32 bytes a pair.
	[ "$bytes" -lt 80000000 ] || fail "expected less than 80000000 bytes, half of a full recording, found $bytes"
done
run 1000
[ "$switched" = 0 ] || fail "a thread that locks 1,000 times is not recorded in full"

# The time in which pages of the stream are prepared counts: a thread that locks each 4 us is recorded in full, but not
# where that takes 30 ms for each 256 KiB.
cat >spaced.c <<-'END'
	#include <pthread.h>
	#include <stdint.h>
	#include <time.h>
	static uint64_t now_ns(void)
	{
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	}
	int main(void)
	{
		static pthread_mutex_t mutexes[2];
		for (int i = 0; i < 200000; i++) {
			uint64_t until_ns = now_ns() + 4000;
			pthread_mutex_lock(&mutexes[i % 2]);
			pthread_mutex_unlock(&mutexes[i % 2]);
			while (now_ns() < until_ns)
				;
		}
	}
END
"$CC" -std=gnu17 -O2 -pthread -o spaced spaced.c || fail "cannot compile"
# spaced EXPECTED [COMMAND...]: whether the thread is switched, in a run by COMMAND
spaced()
{
	local expected=$1
	shift
	fresh "$@" env GPROF_MT_CONFIG="$PWD/auto.conf" LD_PRELOAD="$libsync" ./spaced || fail "spaced: exit status $?"
	switched=$("$gprof_mt" report sync | grep -c 'threads recorded in full until')
	echo "a lock each 4 us $*: switched: $switched"
	[ "$switched" = "$expected" ] || fail "spaced: expected switched: $expected, found $switched"
}
spaced 0
if command -v strace >/dev/null && ! with_sanitizers; then
	spaced 1 strace -f -qq -o /dev/null -e trace=pwritev -e inject=pwritev:delay_enter=30000
fi

# The last line of record, the head of the reports, and doctor name the mode and how to record all.
fresh "$gprof_mt" record --set kernel.source=none -- ./bench uncontended 5000000 >out 2>err || fail "record: $(cat err)"
all='recorded in full until that exceeded sync.budget: from .* on, only waits with their holders in 1 of 2 threads; --set sync.mode=all records all'
grep -q "^gprof-mt: synchronization is $all" err || fail "record says: $(cat err)"
"$gprof_mt" report summary | grep -q "$all" || fail "report summary: $("$gprof_mt" report summary)"
"$gprof_mt" report --format json quality >report.json
[ "$(jq '.sync_switched | length == 1 and .[0].since_ns > 0' report.json)" = true ] || fail "quality: $(cat report.json)"
"$gprof_mt" doctor | grep -qE '^ok +synchronization +auto: ' || fail "doctor: $("$gprof_mt" doctor)"
GPROF_MT_CONFIG=$PWD/waits.conf "$gprof_mt" doctor 2>&1 | grep -qE '^no +configuration ' || fail "doctor with a bad file"
printf '[sync]\npath_sample = off\nmode = contended\n' >waits.conf
GPROF_MT_CONFIG=$PWD/waits.conf "$gprof_mt" doctor | grep -qE '^poor +synchronization +contended: ' || fail "doctor: contended"

# Children of fork begin in a place that their parent prepared.  Those that lock often are switched, too;
# only these have a file of counts.
build locks_in_children
for mode in auto contended; do
	printf '[sync]\nmode = %s\nbudget = 5\n' $mode >forks.conf
	for n in 5 1000000; do
		fresh env GPROF_MT_CONFIG="$PWD/forks.conf" LD_PRELOAD="$libsync" ./locks_in_children $n 4 >out ||
			fail "children: exit status $?"
		"$gprof_mt" report --format json sync quality >report.json || fail "report: exit status $?"
		calls=$(jq '[.sync[] | select(.function == "pthread_mutex_lock") | .calls] | add' report.json)
		switched=$("$gprof_mt" report sync | grep -c 'threads recorded in full until')
		echo "children, $mode: $calls of $(cat out) locks, switched: $switched"
		[ "$(jq '.quality | length' report.json)" = 0 ] || fail "contradictions: $(jq -c .quality report.json)"
		[ "$calls" = "$(cat out)" ] || fail "expected $(cat out) locks, found $calls"
		[ $mode$n != auto1000000 ] || [ "$switched" = 1 ] || fail "expected one switched child, found $switched"
	done
done
