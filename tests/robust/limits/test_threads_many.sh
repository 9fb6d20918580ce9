#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program has more threads at a time than half the mappings that the kernel permits a process.  With
# both libraries it can make as many threads as bare, and each operation is recorded or counted as lost.
# GM_THREADS_MANY: the number of threads (24,000).
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

unset GPROF_MT_CONFIG LD_PRELOAD
wanted=${GM_THREADS_MANY:-24000}
tasks=$(find /proc/[0-9]*/task -maxdepth 1 -mindepth 1 2>/dev/null | wc -l)
most=$(($(cat /proc/sys/kernel/pid_max) - tasks - 500))
[ "$wanted" -le "$most" ] || wanted=$most
build_pg threads_many
cc_bare=$("$CC" -g -O1 -pthread -o bare "$programs/threads_many.c" 2>&1) || fail "$cc_bare"
./bare "$wanted" >expected
status=$?
[ $status = 7 ] || fail "bare: exit status $status"
read -r threads error calls <expected
[ "$error" = 0 ] || skip "bare: error $error after $threads threads"
fresh env LD_PRELOAD="$libsync" timeout 150 ./threads_many "$wanted" >out 2>err
status=$?
[ $status = 7 ] || fail "exit status $status: $(cat out err)"
cmp expected out || fail "expected '$(cat expected)' (threads, error, calls) as bare, found '$(cat out)'"
[ ! -s err ] || fail "expected nothing on stderr, found: $(cat err)"
found=$(python3 "$GM_TOP/tests/robust/programs/losses.py" gprof-mt.data "$calls") || fail "expected $calls calls, recorded or lost, found '$found' (calls, lost, events lost)"
acquired=$(python3 "$GM_TOP/tests/robust/programs/locks.py" gprof-mt.data) || fail "a stream cannot be read"
# Each thread locks its mutex twice and the gate once; main locks the gate.
locks=$((3 * threads + 1))
events_lost=${found##* }
echo "$threads threads: $found calls, lost, events lost; $acquired of $locks locks"
[ "$acquired" -le $locks ] || fail "expected at most $locks locks, found $acquired"
[ $((locks - acquired)) -le "$events_lost" ] ||
	fail "$((locks - acquired)) of $locks locks are missing, but only $events_lost events are counted as lost"
