#!/bin/bash
# SPDX-License-Identifier: MIT
# Signal handlers interrupt thousands of threads during an event and during thread exit.  Each writer
# belongs to one thread at a time, and each lost event is counted.  The test covers a former bug: a writer
# that an ended thread had used beside its own was taken from its present owner, which led to a crash or
# an endless wait.
. "$GM_TOP/tests/lib.sh"

need babeltrace2
n=3000
build storm
printf '[sync]\nmode = all\n' >gprof-mt.conf
timeout 60 ./storm $n >bare || fail "bare: exit status $?"
for round in 1 2 3; do
	fresh env LD_PRELOAD="$libsync" timeout 60 ./storm $n >out 2>err || fail "round $round: status $?: $(cat err)"
	made=$(cat out)
	babeltrace2 gprof-mt.data/*/user >text 2>babeltrace.err || fail "babeltrace2: $(head -3 babeltrace.err)"
	recorded=$(grep -c ' sem_post: ' text)
	ended=$(grep -c ' thread_exit: ' text)
	lost=$("$gprof_mt" report --format csv quality 2>/dev/null |
		awk -F, '/synch-events/ { n += $(NF - 1) } END { print n + 0 }')
	[ "$ended" -eq $((n + 2)) ] || fail "expected $((n + 2)) events thread_exit, found $ended"
	[ $((recorded + lost)) -eq "$made" ] || fail "expected $made posts, recorded or lost, found $recorded + $lost"
	echo "round $round: $n threads; of $made posts $recorded recorded, $lost counted as lost"
done
