#!/bin/bash
# SPDX-License-Identifier: MIT
# A new thread starts about as early as in the bare program: the creating thread makes all that its
# recording needs in advance.  When new threads opened files themselves, they began 0.7 ms late, which
# changed the order of threads that a conformance test relies on.
. "$GM_TOP/tests/lib.sh"
need jq strace

n=60
build starts
# Tasks that open files for the libraries are made by clone(), threads of the program by clone3().
fresh strace -f -qq -e trace=clone -E LD_PRELOAD="$libsync" -o calls ./starts $n >out || fail "exit status $?"
[ "$(cat out)" = $n ] || fail "output: $(cat out)"
[ -s calls ] || fail "expected clone() calls in the trace, found none: correct this test"
creator=$(head -n 1 calls | cut -d' ' -f1)
others=$(grep -F 'clone(' calls | awk -v creator="$creator" '$1 != creator' | wc -l)
made=$(grep -cF 'clone(' calls)
[ "$others" -eq 0 ] || fail "$others of $made tasks were made by other threads than the creator"
locks=$(babeltrace2 gprof-mt.data/*/user | grep -c ' mutex_lock: ')
[ "$locks" -eq $n ] || fail "expected $n locks, found $locks"
"$gprof_mt" report --format json threads >threads.json || fail "report"
jq -e ".threads | length == $n + 1" threads.json >/dev/null || fail "expected $((n + 1)) threads in the report"
echo "$n threads, $made tasks that open files, all made by the creator"
