#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that handlers interrupt in mid-event and while they end, by the thousand: each writer is
# one thread's at a time, and no event is lost without being counted.  A writer that a thread of
# long ago had beside its own was once taken from who had it now: a crash, or a wait without end.
. "$GM_TOP/tests/lib.sh"

need babeltrace2
n=3000
build storm
printf '[sync]\nmode = all\n' >gprof-mt.conf
timeout 60 ./storm $n >bare || fail "the program fails: $?"
for round in 1 2 3; do
	fresh env LD_PRELOAD="$libsync" timeout 60 ./storm $n >out 2>err || fail "round $round: status $?: $(cat err)"
	made=$(cat out)
	babeltrace2 gprof-mt.data/*/user >text 2>babeltrace.err || fail "babeltrace2: $(head -3 babeltrace.err)"
	recorded=$(grep -c ' sem_post: ' text)
	ended=$(grep -c ' thread_exit: ' text)
	lost=$("$gprof_mt" report --format csv quality 2>/dev/null |
		awk -F, '/synch-events/ { n += $(NF - 1) } END { print n + 0 }')
	[ "$ended" -eq $((n + 2)) ] || fail "$ended threads ended, not $((n + 2))"
	[ $((recorded + lost)) -eq "$made" ] || fail "$recorded posts recorded and $lost events lost, $made made"
	echo "round $round: $n threads; of $made posts $recorded recorded, $lost counted as lost"
done
