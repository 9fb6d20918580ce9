#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A ring is readable after the program, or record, was killed at any instant: no damage, no contradiction, and each
# acquisition from its begin on.  A program whose record was killed runs on within the limit.
# GM_RING_KILLS sets the number of kills of each.
# shellcheck source=tests/ring/common.sh
. "$GM_TOP/tests/ring/common.sh"

need jq babeltrace2 python3
build ring_locks
unset GPROF_MT_CONFIG LD_PRELOAD
size=1048576

# start: begins to record a program that runs for long, waits until the ring has removed files, and sets program and
# record to the numbers of both processes.
has_rotated()
{
	compgen -G 'gprof-mt.data/*/user/stream_*_[1-9]?' >/dev/null
}
start()
{
	fresh :
	"$gprof_mt" record --ring 1M --set kernel.source=none --set sync.order=on -- ./ring_locks 2 100000000 \
		>out 2>err &
	record=$!
	until_true 60 has_rotated || fail "the program made no files: $(cat err)"
	program=$(pgrep -P $record -x ring_locks) || fail "no program below record: $(cat err)"
}

# readable: the report has no damage, and no other problem than the kill.
readable()
{
	"$gprof_mt" report --format json quality >quality.json 2>report.err || fail "report: exit status $?: $(cat report.err)"
	problems=$(jq -c '[.quality[] | select(.what | test("record was killed") | not)]' quality.json)
	[ "$problems" = '[]' ] || fail "expected no problem but the kill, found $problems"
	complete_events gprof-mt.data
}

for i in $(seq "${GM_RING_KILLS:-3}"); do
	start
	# Between any two instructions: the time that ls and the shell take differs.
	for _ in $(seq $((i % 7))); do ls >/dev/null; done
	kill -9 "$program"
	wait $record
	[ $? = 137 ] || fail "expected the exit status of a killed program: $(cat err)"
	readable

	start
	kill -9 $record
	wait $record 2>/dev/null
	number=$(basename "$(ls -v gprof-mt.data/*/user/* | tail -1)")
	is_further()
	{
		[ "$(basename "$(ls -v gprof-mt.data/*/user/* | tail -1)")" != "$number" ]
	}
	until_true 60 is_further || fail "the program does not go on after record was killed"
	kill -9 "$program"
	until_true 60 eval "! kill -0 $program 2>/dev/null" || fail "the program does not end"
	[ "$(streams_bytes gprof-mt.data)" -le $size ] ||
		fail "expected at most $size bytes without record, found $(streams_bytes gprof-mt.data)"
	readable
done
exit 0
