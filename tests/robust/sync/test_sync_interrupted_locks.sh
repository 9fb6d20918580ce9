#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A thread whose handlers interrupt its locks writes into several streams in turn: the recorded locks and
# unlocks of a mutex that only this thread uses alternate.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need jq babeltrace2
[ "$(uname -m)" = x86_64 ] || skip "the trap flag is that of x86-64"
build interrupted_locks
unset GPROF_MT_CONFIG LD_PRELOAD

for what in 'contended steps' 'all steps' 'contended timer'; do
	read -r mode how <<<"$what"
	printf '[sync]\npath_sample = off\nmode = %s\n' "$mode" >mode.conf
	fresh env GPROF_MT_CONFIG="$PWD/mode.conf" LD_PRELOAD="$libsync" ./interrupted_locks "$how" >out ||
		fail "$what: exit status $?"
	"$GM_TOP/tests/babeltrace" gprof-mt.data/*/user >text || fail "$what: a stream cannot be read"
	object=$(sed 's/^0x//' out | tr a-f A-F)
	read -r events twice <<<"$(awk -v object="0x$object" '
		index($0, object " ") && /\) mutex_(un)?lock: / {
			locks = /\) mutex_lock: /
			twice += n++ && locks == locked
			locked = locks
		}
		END { print n + 0, twice + 0 }' text)"
	rows=$("$gprof_mt" report --format json quality | jq -c '[.quality[] | select(.what | test("not seen|while")) | {what, count}]')
	streams=$(find gprof-mt.data -name 'stream_*' | wc -l)
	echo "$what: $streams streams, $events events of the mutex, $twice of them out of turn"
	[ "$streams" -ge 2 ] || fail "$what: expected at least 2 streams, found $streams"
	[ "$twice" = 0 ] && [ "$rows" = '[]' ] || bad="$what: $twice out of turn; $rows"
done
# For millions of events, only the reader checks the order.
printf '[sync]\nmode = all\n' >mode.conf
fresh env GPROF_MT_CONFIG="$PWD/mode.conf" LD_PRELOAD="$libsync" ./interrupted_locks timer >out || fail "all timer: exit status $?"
rows=$("$gprof_mt" report --format json quality | jq -c '[.quality[] | {what, count}]')
echo "all timer: $rows"
[ "$rows" = '[]' ] || bad="all timer: $rows"
# With sync.holds, each hold is timed or has both its events, whichever streams they are in.
printf '[sync]\npath_sample = off\nmode = contended\nholds = yes\n' >mode.conf
fresh env GPROF_MT_CONFIG="$PWD/mode.conf" LD_PRELOAD="$libsync" ./interrupted_locks timer >out 2>locks ||
	fail "holds: exit status $?"
"$gprof_mt" report --format json locks >report.json || fail "holds: report: exit status $?"
acquired=$(jq --arg o "$(cat out)" '[.locks[] | select(.object == $o) | .acquired] | add // 0' report.json)
echo "holds, timer: $acquired of $(cat locks) holds"
[ "$acquired" = "$(cat locks)" ] || bad="holds, timer: expected $(cat locks) holds of the mutex, found $acquired"
[ -z "${bad:-}" ] || fail "$bad"
