#!/bin/bash
# SPDX-License-Identifier: MIT
# A wait names its holder, also for a thread that is blocked forever when the program gets SIGKILL.
. "$GM_TOP/tests/sync/common.sh"

# check NAME BEGIN DONE: the waiter's begin names the holder and is followed by its completion
check()
{
	local name=$1 begin=$2 end=$3 object holder waiter
	read -r _ object holder waiter <<<"$(grep "^$name " out)"
	[ -n "$waiter" ] || fail "no line for $name"
	awk -v object="object=0x$(printf %X "$object")" -v begin="$begin" -v waiter="$waiter" \
		-v done="$end" -v holder="holder=$holder" '
		$2 == waiter && $6 == object && $3 == begin && $7 == holder { begun = 1; next }
		$2 == waiter && $6 == object && begun && !ended { ended = $3 == done && $4 == "result=0" }
		END { exit !(begun && ended) }' events ||
		{ cat out events; fail "$name: thread $waiter did not wait for $holder"; }
}

build contention
traced ./contention >out || fail "the program fails when traced"
events >events
no_complaint
for name in normal recursive errorcheck adaptive robust inherit; do
	check $name mutex_lock_begin mutex_lock
done
check timed mutex_timedlock_begin mutex_timedlock
check join thread_join_begin thread_join

traced ./contention stay >out &
until grep -q '^blocked ' out 2>/dev/null; do
	kill -0 $! 2>/dev/null || fail "the program ended before it blocked"
	sleep 0.01
done
read -r _ object holder waiter <<<"$(grep '^blocked ' out)"
kill -KILL "$holder" # the id of the main thread is the process id
wait $! 2>/dev/null
events >events
no_complaint
last=$(awk -v waiter="$waiter" '$2 == waiter { last = $3 " " $6 " " $7 } END { print last }' events)
[ "$last" = "mutex_lock_begin object=0x$(printf %X "$object") holder=$holder" ] ||
	fail "expected mutex_lock_begin as the last event of the blocked thread, got: $last"
