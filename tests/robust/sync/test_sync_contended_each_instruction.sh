#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Another thread locks or unlocks after each single instruction of a lock and unlock: each wait has its
# holder.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need jq
[ "$(uname -m)" = x86_64 ] || skip "the trap flag is that of x86-64"
build each_instruction
unset GPROF_MT_CONFIG LD_PRELOAD

for what in 'all no mutex holder' 'all no mutex waiter' 'contended no mutex holder' 'contended no mutex waiter' \
	'contended no rwlock holder' 'contended yes mutex holder' 'contended no mutex holder crossed' \
	'contended no rwlock holder crossed'; do
	read -r mode holds object who crossed <<<"$what"
	printf '[sync]\npath_sample = off\nmode = %s\nholds = %s\n' "$mode" "$holds" >sync.conf
	fresh env GPROF_MT_CONFIG="$PWD/sync.conf" LD_PRELOAD="$libsync" ./each_instruction "$object" "$who" ${crossed:+"$crossed"} >out ||
		fail "$what: exit status $?"
	"$gprof_mt" report --format json locks >report.json || fail "$what: report: exit status $?"
	read -r waits unknown < <(jq -r --arg o "$object" '[.locks[] | select(.type == $o) | .sites[].holders[]?] |
		"\(map(.contended) | add // 0) \(map(select(.address == null) | .contended) | add // 0)"' report.json)
	echo "$what: $(cat out) rounds, $waits waits, $unknown of them without a holder"
	[ "$waits" -ge 20 ] || fail "$what: expected at least 20 waits to test, found $waits"
	[ "$unknown" = 0 ] || bad=yes
done
[ -z "${bad:-}" ] || fail "waits without a holder"
