#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads of every kind and number, stacks of every kind, ways out of functions of every kind: the
# counts are exact, nothing is lost, and what is kept of a thread that has ended is small.
. "$GM_TOP/tests/gmon/common.sh"

# exact WHAT CALLS: of leaf, by gmon.out and by the calls file
exact()
{
	same "$1: gmon.out" "leaf $2" "$(flat "${1%% *}" gmon.out | grep '^leaf ')"
	same "$1: calls file" "$2" "$(calls "$(folder)" | awk '$2 == "leaf" { n += $3 } END { print n }')"
	same "$1: lost" 0 "$(lost "$(folder)")"
}

# lives CALLS HOW...
lives()
{
	local calls=$1 status
	shift
	fresh timeout 120 ./lives "$@" >out
	status=$?
	[ $status != 77 ] || { echo "left out: $*"; return 1; }
	same "$*: exit status" 0 $status
	exact "lives $*" "$calls"
}

build_pg lives
lives 20 coroutines
lives 25 altstack
lives 40 longjmp
lives 80005 clone
if fresh ./lives tids 20 >out; then
	exact "lives tids" $((3 * $(cat out)))
	same "tids: slots" $(($(cat out) + 1)) "$(calls --slots "$(folder)")"
else
	echo "left out: tids"
fi

# Not a file for each of them: that is the file system's time.
printf '[calls]\ngmon = record\n' >gprof-mt.conf
if lives 60000 one_by_one 20000; then
	# A slot of 128 bytes and a dense table of 4 arcs at most; both files grow by 1 MiB at most.
	size=$(($(stat -c %s "$(folder)/calls") + $(stat -c %s "$(folder)/threads")))
	[ $size -le $((20000 * (128 + 64 + 4 * 24) + 2 * 1048576)) ] ||
		fail "20,000 threads left $size bytes"
fi
lives 12000 at_once 4000
rm gprof-mt.conf

command -v g++ >/dev/null || { echo "left out: C++"; exit 0; }
for flags in -O0 -O2 "-O2 -mfentry"; do
	# shellcheck disable=SC2086 # several flags
	g++ -g -pg -pthread $flags -o thrown "$programs/thrown.cc" "${link[@]}" || fail "thrown $flags"
	fresh ./thrown || fail "thrown $flags: exit status $?"
	# 2 of before_main; for each thread 2 of its own object, and 10 times 4 objects and 2 catches
	exact "thrown $flags" $((2 + 2 * (2 + 10 * (2 * 4 + 2))))
done
exit 0
