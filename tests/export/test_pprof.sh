#!/bin/bash
# SPDX-License-Identifier: MIT
# A profile for pprof, by two readers of that format: calls, callers, CPU time and time blocked are those of the
# reports, and each address is of the object with that build-id.
. "$GM_TOP/tests/runtime/gmon/common.sh"
. "$GM_TOP/tests/runtime/sample/common.sh"
[ -e "$GM_BUILD/tests/export/installed.json" ] || { echo "npm could not get pprof-format"; exit 77; }

# compare PROGRAM [SELECTION...]
compare()
{
	python3 "$GM_TOP/tests/export/pprof_check.py" "$gprof_mt" "$@" >blocked || fail "$*"
}

build ratio
for hz in 250 0; do
	fresh "$gprof_mt" record -q --set kernel.source=none --set sample.hz=$hz -- ./ratio 60 2 >out ||
		fail "ratio at $hz Hz: exit status $?"
	compare ./ratio
	compare ./ratio --tid "$("$gprof_mt" report --format json flat | jq '.functions[-1].tid')"
done

# Time blocked, with the calls that led there.
"$CC" -std=gnu17 -O1 -g -pg -pthread -fno-omit-frame-pointer -o paths \
	"$GM_TOP/tests/runtime/test_sync_programs/paths.c" "${link[@]}" || fail "cannot compile paths"
status=0
fresh "$gprof_mt" record -q --set sync.paths=0ns --set kernel.source=none -- ./paths || status=$?
[ $status -eq 9 ] || fail "paths: exit status $status"
compare ./paths
for stack in 'one;take;pthread_mutex_lock mutex' 'other;take;pthread_mutex_lock mutex' \
	'receive;sem_wait sem' 'await;pthread_cond_wait cond'; do
	grep -qE "(^|;)waits;$stack\$" blocked || fail "no stack $stack in: $(cat blocked)"
done
exit 0
