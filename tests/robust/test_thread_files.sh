#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads in quick succession have their gmon files written several at a time: no more than 15 wait,
# none longer than until something happens after 10 ms, and none is missing however the process ends.
. "$GM_TOP/tests/lib.sh"

build_pg thread_files -D_GNU_SOURCE -w

# n_files: gmon files of threads but the first
n_files()
{
	find gprof-mt.data -name 'gmon.*' ! -name 'gmon.0.*' ! -name 'gmon.merged*' | wc -l
}

fresh ./thread_files each 400 >most || fail "each: exit status $?"
[ "$(cat most)" -le 15 ] || fail "$(cat most) files were missing"
[ "$(n_files)" = 400 ] || fail "at the end: $(n_files) files of 400"
echo "400 threads: at most $(cat most) files waited"

fresh ./thread_files overdue >most || fail "overdue: exit status $?"
[ "$(cat most)" = 0 ] || fail "overdue: $(cat most) files were missing"

for way in _exit _Exit quick_exit execve execv execvp execvpe execl execlp execle fexecve execveat daemon; do
	fresh ./thread_files $way || fail "$way: exit status $?"
	[ "$(n_files)" = 60 ] || fail "$way: $(n_files) files of 60"
done

# Killed: record makes them.
fresh "$gprof_mt" record -q --set kernel.source=none -- ./thread_files kill 2>err
[ "$(n_files)" = 60 ] || fail "killed under record: $(n_files) files of 60"
echo "60 threads and 14 ways out: all files"
exit 0
