# SPDX-License-Identifier: MIT
# Makes captures with calls, CPU time and blocked time for the tests of profiles; the last one remains. The
# including script defines `compare PROGRAM [SELECTION...]`, which is called for each capture.
# shellcheck shell=bash
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"

build_pg ratio -fno-inline # profiles show inlined functions, reports the one that contains them
for hz in 250 0; do
	fresh "$gprof_mt" record -q --set kernel.source=none --set sample.hz=$hz -- ./ratio 60 2 >out ||
		fail "ratio at $hz Hz: exit status $?"
	compare ./ratio
	compare ./ratio --tid "$("$gprof_mt" report --format json flat | jq '.functions[-1].tid')"
done

# Blocked time, with the calls that led to the waits.
"$CC" -std=gnu17 -O1 -g -pg -pthread -fno-omit-frame-pointer -o paths \
	"$GM_TOP/tests/sync/programs/paths.c" "${link[@]}" || fail "cannot compile paths"
status=0
fresh "$gprof_mt" record -q --set sync.paths=0ns --set kernel.source=none -- ./paths || status=$?
[ $status -eq 9 ] || fail "paths: exit status $status"
compare ./paths
