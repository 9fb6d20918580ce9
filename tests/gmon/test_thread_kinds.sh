#!/bin/bash
# SPDX-License-Identifier: MIT
# With every kind of thread and stack, and every way to leave a function, the counts are exact, no call is
# lost, and an ended thread leaves little data.
. "$GM_TOP/tests/gmon/common.sh"

# exact NAME CALLS: calls of leaf, in gmon.out and in the calls file
exact()
{
	same "$1: gmon.out" "leaf $2" "$(flat "${1%% *}" gmon.out | grep '^leaf ')"
	same "$1: calls file" "$2" "$(calls "$(folder)" | awk '$2 == "leaf" { n += $3 } END { print n }')"
	same "$1: lost" 0 "$(lost "$(folder)")"
}

# thread_kinds CALLS HOW...
thread_kinds()
{
	local calls=$1 status
	shift
	fresh timeout 120 ./thread_kinds "$@" >out
	status=$?
	[ $status != 77 ] || { echo "skipped: $*"; return 1; }
	same "$*: exit status" 0 $status
	exact "thread_kinds $*" "$calls"
}

build_pg thread_kinds
thread_kinds 20 coroutines
thread_kinds 25 altstack
thread_kinds 40 longjmp
thread_kinds 80005 clone
if fresh ./thread_kinds tids 20 >out; then
	exact "thread_kinds tids" $((3 * $(cat out)))
	same "tids: slots" $(($(cat out) + 1)) "$(calls --slots "$(folder)")"
else
	echo "skipped: tids"
fi

# gmon files are written by record only, since one file per thread would mostly measure the file system.
printf '[calls]\ngmon = record\n' >gprof-mt.conf
if thread_kinds 60000 one_by_one 20000; then
	# A slot of 128 bytes and a dense table of at most 4 arcs; both files grow by steps of at most 1 MiB.
	size=$(($(stat -c %s "$(folder)/calls") + $(stat -c %s "$(folder)/threads")))
	[ $size -le $((20000 * (128 + 64 + 4 * 24) + 2 * 1048576)) ] ||
		fail "20,000 threads left $size bytes"
fi
thread_kinds 12000 at_once 4000
rm gprof-mt.conf

command -v g++ >/dev/null || { echo "skipped: C++"; exit 0; }
for flags in -O0 -O2 "-O2 -mfentry"; do
	# shellcheck disable=SC2086 # the flags are split on purpose
	g++ -g -pg -pthread $flags -o cxx_exceptions "$programs/cxx_exceptions.cc" "${link[@]}" || fail "cxx_exceptions $flags"
	fresh ./cxx_exceptions || fail "cxx_exceptions $flags: exit status $?"
	# 2 of before_main; for each thread 2 of its own object, and 10 times 4 objects and 2 catches
	exact "cxx_exceptions $flags" $((2 + 2 * (2 + 10 * (2 * 4 + 2))))
done
exit 0
