#!/bin/bash
# SPDX-License-Identifier: MIT
# For every way in which a thread ends, its calls are kept, including those of its keys' destructors.
. "$GM_TOP/tests/gmon/common.sh"
build_pg thread_ends

# check HOW STATUS LEAF_CALLS
check()
{
	local how=$1 dir file
	fresh timeout 60 ./thread_ends "$how" 2>err
	same "$how: exit status" "$2" $?
	same "$how: stderr" "" "$(cat err)"
	dir=$(folder) || fail "$how"
	file=$(ls "$dir"/gmon.1.*) || fail "$how: no file of the thread"
	same "$how: the thread" "half 2
leaf 1000" "$(flat thread_ends "$file" | grep -E '^(half|leaf) ')"
	same "$how: calls file" "1 half 2
1 leaf 1000" "$(calls "$dir" 1 | grep -E ' (half|leaf) ')"
	file=$(ls "$dir"/gmon.2.*) || fail "$how: no file of the bystander"
	same "$how: the bystander" "leaf 10" "$(flat thread_ends "$file" | grep '^leaf ')"
	same "$how: gmon.out" "leaf $3" "$(flat thread_ends gmon.out | grep '^leaf ')"
}

for how in return pthread_exit cancel cancel_async detached; do
	check $how 5 1010
done
check exit_in_thread 5 1011
check main_exits_first 0 1010
# A thread ends unnoticed while moncontrol() is about to access its storage.
build_pg moncontrol_thread_end
fresh timeout 60 ./moncontrol_thread_end 2>err
same "moncontrol_thread_end: exit status" 0 $?
exit 0
