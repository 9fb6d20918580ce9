#!/bin/bash
# SPDX-License-Identifier: MIT
# A new thread starts about as soon as it does without us: what its recording needs is made before,
# by the thread that creates it.  A new thread that opened files itself began 0.7 ms late, and the
# threads of a conformance test met each other in an order that they had not been written for.
. "$GM_TOP/tests/lib.sh"

n=60
build starts
# Tasks that open files for the libraries are made by clone(), threads of the program by clone3().
fresh strace -f -qq -e trace=clone -E LD_PRELOAD="$libsync" -o calls ./starts $n >out || fail "exit status $?"
[ "$(cat out)" = $n ] || fail "output: $(cat out)"
[ -s calls ] || fail "no task was made: this test has to be mended"
creator=$(head -n 1 calls | cut -d' ' -f1)
others=$(grep -F 'clone(' calls | awk -v creator="$creator" '$1 != creator' | wc -l)
made=$(grep -cF 'clone(' calls)
[ "$others" -eq 0 ] || fail "$others of $made tasks were made by other threads than the creator"
locks=$(babeltrace2 gprof-mt.data/*/user | grep -c ' mutex_lock: ')
[ "$locks" -eq $n ] || fail "$locks locks recorded, not $n"
"$gprof_mt" report --format json threads >threads.json || fail "report"
jq -e ".threads | length == $n + 1" threads.json >/dev/null || fail "not $n threads and the first"
echo "$n threads, $made tasks that open files, all made by the creator"
