#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sync.mode = contended: each wait for a mutex has its holder, as with mode = all, although uncontended
# operations are only counted.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need jq
build holders
printf '[sync]\npath_sample = off\nmode = contended\n' >contended.conf
unset GPROF_MT_CONFIG LD_PRELOAD

# The time of all waits for mutexes, and of those without a known holder, in us.
for round in 1 2 3 4 5; do
	fresh env GPROF_MT_CONFIG="$PWD/contended.conf" LD_PRELOAD="$libsync" ./holders 30 >out ||
		fail "exit status $?"
	"$gprof_mt" report --format json locks quality >report.json || fail "report: exit status $?"
	[ "$(jq '.quality | length' report.json)" = 0 ] ||
		{ jq .quality report.json; fail "contradictions in what was recorded"; }
	read -r waits wait_us unknown_us < <(jq -r '[.locks[] | select(.type == "mutex")] |
		"\(map(.contended) | add // 0) \(map(.wait_ns) | add // 0 | . / 1000 | floor) \(
		[.[].sites[].holders[]? | select(.address == null) | .wait_ns] | add // 0 |
		. / 1000 | floor)"' report.json)
	echo "round $round: $waits waits for mutexes, $wait_us us, $unknown_us us of them without a holder"
	[ $((unknown_us * 10)) -le "$wait_us" ] || known_too_little=yes
	all_waits=$((${all_waits:-0} + waits))
done
[ "$all_waits" -gt 0 ] || fail "expected waits for mutexes, found none"
[ -z "${known_too_little:-}" ] || fail "more than a tenth of the time waited has no holder"
# The mutexes that only one thread uses have no events.
[ "$(jq '[.locks[] | select(.type == "mutex")] | length' report.json)" -le 3 ] ||
	{ jq '[.locks[] | .object]' report.json; fail "uncontended locks are recorded as events"; }
