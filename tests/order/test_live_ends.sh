#!/bin/bash
# SPDX-License-Identifier: MIT
# Live replays of programs whose threads are cancelled, interrupted by handlers, or cut off by the end of the process;
# of programs that fork or execute others; of ones that are not deterministic, which are refused with their first
# difference; and of ones that do something else than recorded, which go on by themselves, and end as they do without
# a replay.
. "$GM_TOP/tests/lib.sh"
need jq
build ends

# replayed STATUS WORD...: the program, recorded and replayed, keeps its order, and has that exit status
replayed()
{
	local status=$1
	shift
	rm -rf kept
	timeout 100 "$gprof_mt" replay --engine=live --runs=3 --keep kept --format json -- ./ends "$@" >rows 2>err ||
		fail "$*: $(cat err rows)"
	jq -e --argjson status "$status" '.live_replays | length == 3 and
		all(.outcome == "kept" and .kept_pct == 100 and .status == $status)' rows >/dev/null || fail "$*: $(cat rows)"
	for output in kept/run.*.out; do
		same "$*: output" "$(./ends "$@" 2>&1)" "$(cat "$output")"
	done
}

replayed 0 cancel
replayed 0 handler
replayed 0 exit
replayed 0 tokens
replayed 3 more 3
replayed 5 spawn 5

# refused TEXT WORD...: in one line
refused()
{
	local text=$1
	shift
	! timeout 100 "$gprof_mt" replay --engine=live --runs=1 "$@" >out 2>err || fail "accepted: $*"
	same "$*: lines" 1 "$(wc -l <err)"
	grep -qF "$text" err || fail "$*: expected '$text', got $(cat err)"
}

rm -f runs
refused 'the program is not deterministic, and cannot be replayed live: thread 0, operation 1: mutex_lock at do_file' -- ./ends file
refused '2 processes were recorded, and one can be replayed' -- ./ends fork
refused '2 processes were recorded, and one can be replayed' -- ./ends exec 1
refused 'no command: add -- COMMAND' d
"$gprof_mt" record -q -o unnumbered --set sync.mode=all ./ends more 1 >out || [ $? = 1 ] || fail "record unnumbered"
refused 'acquisitions have no number: record with --set sync.order=on' unnumbered -- ./ends more 1
"$gprof_mt" record -q -o partial --set sync.order=on --set sync.types=-spin ./ends more 1 >out || [ $? = 1 ] || fail "record partial"
refused 'not all locks were recorded' partial -- ./ends more 1
refused 'no capture nowhere' nowhere -- ./ends more 1
refused 'unnumbered: File exists' --keep unnumbered -- ./ends more 1

# diverges TEXT N_RECORDED N WORD...: replayed with another argument, the program leaves the schedule
diverges()
{
	local text=$1 recorded=$2 n=$3
	shift 3
	rm -rf d kept
	"$gprof_mt" record -q -o d --set sync.order=on ./ends "$@" "$recorded" >/dev/null || [ $? = "$recorded" ] || fail "record $*"
	! timeout 100 "$gprof_mt" replay --engine=live --unchecked --runs=2 --keep kept --format json d -- ./ends "$@" "$n" >rows 2>err ||
		fail "$* $n: kept the order of $recorded"
	jq -e --argjson n "$n" --arg text "$text" '.live_replays | length == 2 and
		all(.status == $n and (.outcome | contains($text)))' rows >/dev/null || fail "$* $n: $(cat err rows)"
	for output in kept/run.*.out; do
		same "$* $n: output" "end $n" "$(cat "$output")"
	done
}

diverges "thread 0, operation 11: an operation after the thread's last recorded one: mutex_lock at lock_both" 5 6 more
diverges 'thread 0, operation 1: a thread was created that was not recorded' 2 4 spawn
diverges 'thread 1, operation 1: its turn did not come: mutex_lock at lock_and_set' 0 1 stuck
