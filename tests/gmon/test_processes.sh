#!/bin/bash
# SPDX-License-Identifier: MIT
# Each process has its own folder and its own calls, over fork, vfork, posix_spawn and exec; no call is lost
# or counted twice. A process that ends without exit handlers leaves all its counted calls.
. "$GM_TOP/tests/gmon/common.sh"
build_pg processes
ln -s processes leaf_only
ulimit -c 0

# leaves HOW STATUS EXPECTED: EXPECTED is the calls of `leaf`, a number per folder, sorted
leaves()
{
	local how=$1 got
	fresh timeout 60 ./processes "$how" 2>err
	same "$how: exit status" "$2" $?
	moved
	got=$(for dir in gprof-mt.data/[0-9]*; do
		calls "$dir" | awk '$2 == "leaf" { n += $3 } END { print n + 0 }'
	done | sort -n | paste -sd ' ')
	same "$how: calls of leaf by process" "$3" "$got"
}

leaves "" 0 "110"
leaves fork 0 "7 115"
same "fork: merged" "leaf 115" "$(flat processes gmon.out | grep '^leaf ')"
leaves fork_thread 0 "7 110"
leaves fork_exec 0 "3 7 110"
leaves nested 0 "7 7 7 110"
leaves system 0 "3 110"
leaves daemon 0 "4 7 110"
leaves _Fork 0 "7 110"
same "_Fork: merged" "leaf 110" "$(flat processes gmon.out | grep '^leaf ')"
leaves _Fork_silent 0 "110"
leaves clone 0 "7 110"
leaves clone_thread 0 "12 110"
leaves vfork 0 "3 117"
leaves spawn 0 "3 110"
leaves exec 0 "3 110"
leaves kill 137 "110"
leaves segv 139 "110"
leaves abort 134 "110"
leaves _exit 9 "110"
leaves quick_exit 9 "110"

# The gmon files of a child, from its own folder.
fresh ./processes fork
for file in gprof-mt.data/*/gmon.0.*; do
	flat processes "$file" | awk '$1 == "leaf" { print $2 }'
done | sort -n | paste -sd ' ' >leaves
same "fork: gmon files" "7 110" "$(cat leaves)"
exit 0
