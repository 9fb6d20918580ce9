#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Locks that are held, and waits that begin, before the time that a ring has: no contradiction, and no invented time.
# shellcheck source=tests/ring/common.sh
. "$GM_TOP/tests/ring/common.sh"

need jq
build ring_locks
unset GPROF_MT_CONFIG LD_PRELOAD

# main() took `kept` before the ring's time, and joins its threads while the ring goes round: both go on in it.
for source in none auto; do
	fresh "$gprof_mt" record --ring 2M --set kernel.source=$source --set sync.mode=all -- ./ring_locks 2 400000 hold \
		>out 2>err || fail "exit status $?: $(cat err)"
	from_ns=$(ring_from gprof-mt.data)
	"$gprof_mt" report --format json quality locks summary threads >report.json 2>report.err ||
		fail "report: exit status $?: $(cat report.err)"
	[ "$(problems report.json)" = '[]' ] || fail "expected no contradictions, found $(problems report.json)"
	grep -q 'what began before counts from then' report.err || fail "expected a line on the ring, found: $(cat report.err)"
	wall_ns=$(jq '.summary[0].wall_ns' report.json)
	longest_ns=$(jq '[.locks[] | select(.type == "thread") | .wait_max_ns // 0] | max' report.json)
	echo "$source: from $from_ns ns on, wall time $wall_ns ns; longest join $longest_ns ns"
	[ "$longest_ns" -gt 0 ] || fail "expected main()'s wait for a thread: $(jq -c '.locks' report.json)"
	[ "$longest_ns" -le "$wall_ns" ] || fail "expected waits within the ring's time, found $longest_ns ns of $wall_ns ns"
	over=$(jq --argjson wall "$wall_ns" '[.threads[] | select(.running_ns + .runnable_ns + .blocked_sync_ns > $wall + 1000)]' \
		report.json)
	[ "$source" = none ] || [ "$over" = '[]' ] || fail "expected times of threads within $wall_ns ns, found $over"
	hold_ns=$(jq '[.locks[] | .hold_ns // 0] | max' report.json)
	[ "$hold_ns" -le $((2 * wall_ns)) ] || fail "expected holds within the ring's time, found $hold_ns ns of $wall_ns ns"
done

# `kept` counts as held while main() waits for the threads, as far as the ring goes back.
kept_ns=$(jq '[.locks[] | select(.name == "kept") | .hold_ns] | add' report.json)
[ "${kept_ns:-0}" -ge "$longest_ns" ] || fail "expected a hold of kept for $longest_ns ns or more, found $kept_ns ns"

# A stream of a thread may begin with a release of `hot`, whose hold has no begin in there: a note has their number.
babeltrace2 --clock-cycles --no-delta gprof-mt.data/*/ >events.txt 2>bt.err || fail "babeltrace2: $(cat bt.err)"
early=$(sed -nE 's/^.* (\w+): \{ tid = ([0-9]+), index = ([0-9]+) \}.*/\1 \2 \3/p' events.txt |
	awk '$1 !~ /^(site|path|call_path)$/ && !(($2, $3) in begun) { begun[$2, $3] = 1; n += $1 == "mutex_unlock" }
	END { print n + 0 }')
noted=$(jq -r '.notes[].note | capture("^(?<n>[0-9]+) locks were acquired before the events that the ring has") | .n' report.json)
echo "$early streams begin with a release"
[ "${noted:-0}" -eq "$early" ] || fail "expected a note on $early locks, found: $(jq -c .notes report.json)"

# A wait at the end is there with its holder and release.
fresh "$gprof_mt" record --ring 2M --set kernel.source=none --set sync.mode=all -- ./ring_locks 2 200000 wait \
	>out 2>err || fail "exit status $?: $(cat err)"
"$gprof_mt" report --format json locks 2>/dev/null >report.json || fail "report: exit status $?"
wait_ns=$(jq '[.locks[] | select(.name == "gate") | .wait_ns] | add' report.json)
[ "${wait_ns:-0}" -ge 4000000 ] || fail "expected a wait of 5 ms for gate, found $(jq -c '.locks' report.json)"
holder=$(jq -r '[.locks[] | select(.name == "gate") | .sites[].holders[] | select(.wait_ns >= 4000000) | .site][0]' report.json)
[[ $holder == 'hold (ring_locks.c:'* ]] || fail "expected the hold in hold(), found $holder: $(cat report.json)"
exit 0
