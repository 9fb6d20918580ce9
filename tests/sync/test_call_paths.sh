#!/bin/bash
# SPDX-License-Identifier: MIT
# Long waits, and releases while other threads sleep, record the calls that led to them.
. "$GM_TOP/tests/sync/common.sh"

run() # STATUS COMMAND...
{
	local wanted=$1 status=0
	shift
	"$@" >out 2>err || status=$?
	[ $status -eq "$wanted" ] || { cat out err; fail "exit status $status of: $*"; }
}

# paths FUNCTION [DIR]: prints the call paths to it, within the program
paths()
{
	"$gprof_mt" report -i "${2:-gprof-mt.data}" --format json paths |
		jq -r --arg f "$1" '.paths[] | select(.function == $f) | .path' |
		sed -E 's/ < (start_thread|__libc_start_call_main|0x).*//' | sort -u
}

printf '[sync]\npath_sample = off\npaths = 0ns\n' >all.conf
export GPROF_MT_CONFIG=$PWD/all.conf
check_paths()
{
	same "pthread_mutex_lock" "$(paths pthread_mutex_lock)" "take < one < waits
take < other < waits"
	same "pthread_mutex_unlock" "$(paths pthread_mutex_unlock | grep 'release < main')" "release < main"
	same "sem_wait" "$(paths sem_wait)" "receive < waits"
	same "sem_post" "$(paths sem_post)" "give < main"
	same "pthread_cond_wait" "$(paths pthread_cond_wait)" "await < waits"
	same "pthread_cond_signal" "$(paths pthread_cond_signal)" "announce < main"
}

same() # WHAT GOT WANTED
{
	[ "$2" = "$3" ] || { "$gprof_mt" report paths; fail "$1: expected '$3', got '$2'"; }
}

build paths -fno-omit-frame-pointer
run 9 traced ./paths
events >events
no_complaint
check_paths
# each node is defined once in its stream
[ -z "$(awk '$3 == "path" { print $1, $5, $6 }' events | sort | uniq -d)" ] || fail "a node is defined twice"
# addr2line is the witness of an address.
address=$(awk '$3 == "path" { at[$1 " " substr($4, 8)] = $6 } $3 == "call_path" { print at[$1 " " substr($4, 6)]; exit }' events)
base=$(awk '$2 == "load" { print $5; exit }' gprof-mt.data/*/maps)
addr2line -f -e paths "$(printf 0x%x $((${address#address=} - 1 - 0x$base)))" | head -n 1 | grep -qx 'release' ||
	fail "addr2line does not find release() at $address"
echo "frame pointers: ok"

build paths -pg
run 9 traced ./paths
check_paths
echo "-pg: ok"

GPROF_MT_CONFIG=$PWD/contended.conf
printf '[sync]\nmode = contended\npath_sample = off\npaths = 0ns\n' >contended.conf
run 9 traced ./paths
check_paths
GPROF_MT_CONFIG=$PWD/all.conf
echo "waits only: ok"

# Unwind tables need no frame pointers; without tables, frame pointers are followed.
build paths -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fno-ipa-icf
run 9 traced ./paths
check_paths
echo "no frame pointers: ok"
build paths -O2 -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-optimize-sibling-calls -fno-ipa-icf
! readelf --debug-dump=frames paths | sed '/\.debug_frame/,$d' | grep -q "$(nm paths | sed -n 's/ [tT] take$//p')" || fail "take() has a table"
run 9 traced ./paths
check_paths
build paths -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-optimize-sibling-calls -fno-ipa-icf
run 9 traced ./paths
same "without either" "$(paths pthread_mutex_lock)" ""
same "without either, why" "$("$gprof_mt" report --format json quality | jq -r '.path_ends[].why')" \
	"code without an unwind table and without a frame pointer"
echo "no tables: ok"

# The threads run on stacks that are unmapped afterwards.
build paths -fno-omit-frame-pointer
run 9 traced ./paths stacks
paths pthread_mutex_lock | grep -q '^take < one < on_another_stack' || { paths pthread_mutex_lock; fail "stacks"; }
echo "other stacks: ok"

# The last arrival at a barrier ends the waits of the others; at a barrier of one thread nobody waits.
run 9 traced ./paths barrier
same "pthread_barrier_wait" "$(paths pthread_barrier_wait)" "arrive < arrive_last < meet < main
arrive < arrives_first"
echo "barriers: ok"

# No paths if the configuration turns them off, or if no wait was long enough.
printf '[sync]\npaths = off\n' >off.conf
GPROF_MT_CONFIG=$PWD/off.conf run 9 traced ./paths
events >events
expect 0 ' (path|call_path) '
"$gprof_mt" report paths | grep -q 'no operation has a call path' || fail "paths = off: no note"
printf '[sync]\npaths = 1h\n' >bad.conf
GPROF_MT_CONFIG=$PWD/bad.conf traced ./paths >out 2>err
grep -q "bad.conf:2: invalid value '1h' for sync.paths: use off, 0, or a time" err || { cat err; fail "a bad time"; }
echo "configured: ok"

# A thread wakes another one and locks again before that one runs: both releases have a path.
build relocked -D_GNU_SOURCE
for way in all 'all other' contended; do
	read -r conf between <<<"$way"
	status=3
	for ((i = 0; i < 20 && status == 3; i++)); do
		status=0
		GPROF_MT_CONFIG=$PWD/$conf.conf traced ./relocked $between >out 2>err || status=$?
	done
	[ $status -eq 0 ] || { cat out err; fail "$way: exit status $status of relocked in run $i"; }
	same "$way: releases" "$("$gprof_mt" report --format json paths | jq '[.paths[] |
		select(.function == "pthread_mutex_unlock" and .name == "lock" and (.path | startswith("lock_twice"))) |
		.calls] | add')" 2
done
echo "locked again: ok"
