#!/bin/bash
# SPDX-License-Identifier: MIT
# speedscope's importer reads its own format, folded stacks, and callgrind's format from export: the same
# calls, times and stacks as in the history of calls.
. "$GM_TOP/tests/calls/common.sh"
[ -e "$GM_BUILD/tests/export/installed.json" ] || skip "npm could not get speedscope"

check()
{
	python3 "$GM_TOP/tests/export/speedscope_check.py" "$gprof_mt" "$@" || fail "$*"
}

for flags in "-pg -mfentry -minstrument-return=call" -finstrument-functions; do
	configure
	# shellcheck disable=SC2086 # the flags are split on purpose
	build_from sequence sequence.c $flags
	fresh ./sequence tree 2 || fail "$flags: exit status $?"
	check time calls
done
rm gprof-mt.conf

# A thread without a history is omitted; without any history there is no file.
build_from sequence sequence.c -pg
fresh "$gprof_mt" record -q --set calls.mode=history -- ./sequence tree 2 || fail "-pg: exit status $?"
! "$gprof_mt" export --format speedscope 2>err || fail "times without returns"
grep -q "the history of calls has no returns" err || fail "no note about missing returns: $(cat err)"

# CPU time; and blocked time, by the calls that led to the waits.
"$CC" -std=gnu17 -D_GNU_SOURCE -O1 -g -pg -pthread -o ratio "$GM_TOP/tests/sample/programs/ratio.c" \
	-L"$GM_BUILD" -lgmon_mt -Wl,-rpath,"$GM_BUILD" || fail "cannot compile ratio"
fresh "$gprof_mt" record -q --set kernel.source=none --set sample.hz=250 -- ./ratio 200 2 >out ||
	fail "ratio: exit status $?"
check samples callgrind
"$CC" -std=gnu17 -O1 -g -pthread -fno-omit-frame-pointer -o paths \
	"$GM_TOP/tests/sync/programs/paths.c" || fail "cannot compile paths"
status=0
fresh "$gprof_mt" record -q --set sync.paths=0ns --set kernel.source=none -- ./paths || status=$?
[ $status -eq 9 ] || fail "paths: exit status $status"
check off-cpu off-wake blame
exit 0
