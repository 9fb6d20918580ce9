#!/bin/bash
# SPDX-License-Identifier: MIT
# The gmon files of threads in quick succession are written several at a time: at most 15 files are
# pending, and none any more at the first event after 10 ms.  No file is missing after the end of the
# process, by whichever function it ends.
. "$GM_TOP/tests/lib.sh"

build_pg thread_files -D_GNU_SOURCE -w
printf '[calls]\ngmon_threads = 1000\n' >gprof-mt.conf

# n_files: prints the number of gmon files of all threads except the first
n_files()
{
	find gprof-mt.data -name 'gmon.*' ! -name 'gmon.0.*' ! -name 'gmon.merged*' | wc -l
}

fresh ./thread_files each 400 >most || fail "each: exit status $?"
[ "$(cat most)" -le 15 ] || fail "expected at most 15 pending files, found $(cat most)"
[ "$(n_files)" = 400 ] || fail "at the end: expected 400 files, found $(n_files)"
echo "400 threads: at most $(cat most) files were pending"

fresh ./thread_files overdue >most || fail "overdue: exit status $?"
[ "$(cat most)" = 0 ] || fail "overdue: $(cat most) files were missing"

for way in _exit _Exit quick_exit execve execv execvp execvpe execl execlp execle fexecve execveat daemon; do
	fresh ./thread_files $way || fail "$way: exit status $?"
	[ "$(n_files)" = 60 ] || fail "$way: expected 60 files, found $(n_files)"
done

# After a kill, record makes the files.
fresh "$gprof_mt" record -q --set kernel.source=none -- ./thread_files kill 2>err
[ "$(n_files)" = 60 ] || fail "killed under record: expected 60 files, found $(n_files)"
echo "60 threads and 14 kinds of exit: all files"
exit 0
