#!/bin/bash
# SPDX-License-Identifier: MIT
# A program sees nothing of the samples: its signals, its timers, SIGPROF, what blocks, waits for and
# resets signals, setegid() among threads, cancellation, exec; no wait is ever interrupted.  The child of
# a fork has samples of its own.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"
sampling 1000

"$CC" -std=gnu17 -D_GNU_SOURCE -Wall -O1 -g -o unseen "$programs/unseen.c" -pthread || fail "cannot compile"
timeout 120 ./unseen >plain || fail "without: exit status $?"
for how in linked static; do
	[ $how = linked ] || link_with "$GM_BUILD/libgmon_mt.a" -static
	build_pg unseen
	fresh timeout 120 ./unseen >sampled || fail "$how: exit status $?"
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
