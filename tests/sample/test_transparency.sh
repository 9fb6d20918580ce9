#!/bin/bash
# SPDX-License-Identifier: MIT
# Sampling is invisible to the program: signals, timers, SIGPROF, functions that block, wait for or reset
# signals, setegid() with threads, cancellation, exec. No wait is interrupted. The child of a fork is sampled
# too.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"
sampling 1000

"$CC" -std=gnu17 -D_GNU_SOURCE -Wall -O1 -g -o visible_state "$programs/visible_state.c" -pthread || fail "cannot compile"
timeout 120 ./visible_state >plain || fail "without: exit status $?"
for how in linked static; do
	[ $how = linked ] || link_with "$GM_BUILD/libgmon_mt.a" -static
	build_pg visible_state
	fresh timeout 120 ./visible_state >sampled || fail "$how: exit status $?"
	same "$how" "$(cat plain)" "$(cat sampled)"
	"$gprof_mt" report --format json flat >flat.json 2>report.err
	check sampled flat.json 2
done

"$CC" -std=gnu17 -D_GNU_SOURCE -Wall -O1 -g -o eintr "$programs/eintr.c" -pthread || fail "cannot compile"
same "control" 9 "$(timeout 120 ./eintr 0 control | grep -c ' interrupted$')"
link_with -L"$GM_BUILD" -lgmon_mt -Wl,-rpath,"$GM_BUILD"
build_pg eintr
fresh timeout 120 ./eintr 80 >out || fail "eintr: exit status $?"
same "interrupted by samples" "" "$(grep -v ' never$' out)"
"$gprof_mt" report --format json flat >flat.json || fail "eintr: report"
check sampled flat.json 1
exit 0
