#!/bin/bash
# SPDX-License-Identifier: MIT
#
# [output] max: when the size of a capture comes near the limit, threads record only waits; at the limit
# nothing more is written.  The program runs as bare, all processes together keep to the limit, and each
# operation is reported as an event, in a count or as lost.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need jq
"$CC" -std=gnu17 -O2 -pthread -o bench "$GM_TOP/tests/bench/bench_sync.c" || fail "cannot compile"
build output_max
unset GPROF_MT_CONFIG LD_PRELOAD
M=1048576

# recorded PROGRAM ARGUMENT...: records the program; sets bytes (of streams), calls (reported) and lost
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
	[ "$bytes" -le "$limit" ] || fail "expected at most $limit bytes of streams, found $bytes"
	# Without a loss there are no contradictions.  A wait whose end is lost counts as one.
	[ "$others" = 0 ] || [ "$lost" -gt 0 ] || fail "expected no contradictions, found: $(jq -c .quality report.json)"
}

# Threads are switched in time, and nothing is lost; recorded in full, the capture would have 64 MB.
max=8M limit=$((8 * M))
recorded ./bench uncontended 2000000
grep -q 'synchronization is recorded in full until the capture came near output.max' err ||
	fail "expected a message of record about output.max, found: $(cat err)"
grep -q '; complete$' err || fail "expected '; complete' from record, found: $(cat err)"
[ "$lost" = 0 ] || fail "expected no lost operation, found $lost"
[ "$(jq '[.sync[] | select(.function | test("mutex_(un)?lock$")) | .calls] | add' report.json)" = 4000000 ] ||
	fail "expected 4000000 locks and unlocks in the report: $(jq -c .sync report.json | head -c 1000)"
"$gprof_mt" report sync | grep -q 'output.max' || fail "expected a message about output.max in report sync"

# If each operation waits, none can be left out: recording stops at the limit, which a third of these reach.
max=1M limit=$M
recorded ./bench barrier 60000
[ "$lost" -gt 0 ] || fail "expected lost operations, found none"
grep -q 'lost: .*output.max is reached' err || fail "expected 'output.max is reached' from record, found: $(cat err)"
! grep -q '; complete$' err || fail "record prints '; complete' in spite of losses"

# The limit of 8 processes together, each of which executes another program and locks 100,000 times.
max=4M limit=$((4 * M + 8 * 262144))
recorded ./output_max 8 100000
[ "$(jq '[.sync[] | select(.function == "pthread_mutex_lock") | .calls] | add' report.json)" -ge $((800000 - lost)) ] ||
	fail "expected 800000 locks, reported or lost; found $lost lost, and $calls operations reported"

# The error message of an invalid value.
for bad in 5 x 1T; do
	"$gprof_mt" record --set "output.max=$bad" true 2>err && fail "output.max=$bad is accepted"
	[ "$(wc -l <err)" = 1 ] || fail "expected one line on stderr, found: $(cat err)"
	grep -q "invalid value '$bad' for output.max: use bytes from" err || fail "output.max=$bad: another message: $(cat err)"
done
exit 0
