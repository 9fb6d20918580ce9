#!/bin/bash
# SPDX-License-Identifier: MIT
#
# [output] max: when a capture comes near it, threads are switched to waits only; at the limit nothing
# more is written.  The program runs as bare, all processes together keep to the limit, and each
# operation is in the report, as an event or counted, or counted as lost.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need jq
"$CC" -std=gnu17 -O2 -pthread -o bench "$GM_TOP/tests/bench/bench_sync.c" || fail "cannot compile"
build output_max
unset GPROF_MT_CONFIG LD_PRELOAD
M=1048576

# recorded PROGRAM ARGUMENT...: sets bytes (of streams), events, lost
recorded()
{
	fresh "$gprof_mt" record --set kernel.source=none --set sync.mode=all --set "output.max=$max" -- "$@" \
		>out 2>err || fail "$*: exit status $?: $(cat err)"
	bytes=$(cat gprof-mt.data/*/user/stream_* | wc -c)
	"$gprof_mt" report --format json sync quality summary >report.json || fail "$*: report: exit status $?"
	calls=$(jq '[.sync[] | .calls] | add' report.json)
	lost=$(jq '[.quality[] | select(.what | test("output.max")) | .count] | add // 0' report.json)
	others=$(jq '[.quality[] | select(.what | test("output.max") | not)] | length' report.json)
	echo "$max, $*: $bytes bytes, $calls operations reported, $lost lost"
	[ "$bytes" -le "$limit" ] || fail "$bytes bytes: more than $max"
	# A wait whose end is lost is given up.
	[ "$others" = 0 ] || [ "$lost" -gt 0 ] || fail "contradictions: $(jq -c .quality report.json)"
}

# Switched in time: nothing is lost, 64 MB were it recorded in full.
max=8M limit=$((8 * M))
recorded ./bench uncontended 2000000
grep -q 'synchronization is recorded in full until the capture came near output.max' err || fail "record says: $(cat err)"
grep -q '; complete$' err || fail "not complete: $(cat err)"
[ "$lost" = 0 ] || fail "$lost lost"
[ "$(jq '[.sync[] | select(.function | test("mutex_(un)?lock$")) | .calls] | add' report.json)" = 4000000 ] ||
	fail "not 4000000 locks and unlocks"
"$gprof_mt" report sync | grep -q 'output.max' || fail "report sync does not say it"

# Where each operation waits there is nothing to leave out: recording stops.
max=1M limit=$M
recorded ./bench barrier 20000
[ "$lost" -gt 0 ] || fail "nothing is lost, though it cannot all be there"
grep -q 'lost: .*output.max is reached' err || fail "record says: $(cat err)"
! grep -q '; complete$' err || fail "record says that it is complete"

# All processes together: 8 of them, each of which starts another program and locks 100,000 times.
max=4M limit=$((4 * M + 8 * 262144))
recorded ./output_max 8 100000
[ "$(jq '[.sync[] | select(.function == "pthread_mutex_lock") | .calls] | add' report.json)" -ge $((800000 - lost)) ] ||
	fail "$calls reported and $lost lost do not make 800000 locks"

# Words for a person.
for bad in 5 x 1T; do
	"$gprof_mt" record --set "output.max=$bad" true 2>err && fail "output.max=$bad is accepted"
	[ "$(wc -l <err)" = 1 ] || fail "$(cat err)"
	grep -q "bad value '$bad' for output.max: use bytes from" err || fail "$(cat err)"
done
exit 0
