#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sync.mode = contended: a fork, a jump out of a handler or a cancellation cuts off a wait.  Afterwards,
# too, uncontended holds are counted without events, and each wait has its holder.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need jq
build interrupted_wait
printf '[sync]\npath_sample = off\nmode = contended\n' >contended.conf
unset GPROF_MT_CONFIG LD_PRELOAD

for how in none prefork handler jump exit cancel; do
	fresh env GPROF_MT_CONFIG="$PWD/contended.conf" LD_PRELOAD="$libsync" timeout 60 ./interrupted_wait "$how" >out ||
		fail "$how: exit status $?"
	read -r pid object <out
	locks=$(python3 "$GM_TOP/tests/robust/programs/locks.py" gprof-mt.data) || fail "$how: a stream cannot be read"
	"$gprof_mt" report --format json locks quality >report.json || fail "$how: report: exit status $?"
	known=$(jq --arg pid "$pid" --arg o "$object" '[.locks[]? | select(.object == $o and (.pid | tostring) == $pid) |
		.sites[].holders[]? | select(.address != null) | .contended] | add // 0' report.json)
	echo "$how: $locks locks are written, $known waits have a holder"
	[ "$locks" -le 20 ] || bad="$how: expected at most 20 events of locks, found $locks"
	[ "$known" -ge 1 ] || bad="$how: expected a wait with a holder, found none"
done
[ -z "${bad:-}" ] || fail "$bad"
