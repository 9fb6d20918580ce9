#!/bin/bash
# SPDX-License-Identifier: MIT
# With sync.order = on, the numbers of a lock's acquisitions give the order that the program itself has logged while it
# held the lock, also in a child of fork, and whatever sync.mode says; no number is missing or there twice.  Without it,
# there are none.
. "$GM_TOP/tests/lib.sh"
need babeltrace2 jq python3
build logged

# recorded NAME ROUNDS [OPTION...]
recorded()
{
	local name=$1 rounds=$2
	shift 2
	rm -rf "$name"
	"$gprof_mt" record -q -o "$name" --set kernel.source=none "$@" ./logged "$rounds" >log || fail "record $*"
	babeltrace2 "$name" >trace || fail "babeltrace2: $name"
}

for mode in all auto contended; do
	recorded d 300 --set sync.order=on --set sync.mode=$mode
	python3 "${0%/*}/numbers.py" log trace || fail "mode $mode"
done
"$gprof_mt" report -i d quality >rows 2>&1 || fail "quality: $(cat rows)"
! grep -E '[0-9] .*lost' rows || fail "events were lost"

recorded d 20 --set sync.mode=all
! grep -q ' order: ' trace || fail "numbers without sync.order"

# The child's locks have numbers of their own, although its parent has used one of them.
rm -rf d
"$gprof_mt" record -q -o d --set kernel.source=none --set sync.order=on ./logged 50 fork >log || fail "record fork"
for child in d/*/user; do
	[ "$(babeltrace2 "$child" | grep -c ' spin_lock: ')" -gt 0 ] || continue
	babeltrace2 "$child" >trace || fail "babeltrace2: ${child#d/}"
	python3 "${0%/*}/numbers.py" log trace || fail "fork: ${child#d/}"
	found=1
done
[ -n "${found-}" ] || fail "fork: the child has no trace"

# Time stamps that contradict the numbers.
rm -rf d
"$GM_BUILD/tests/ctf/make_capture" d order || fail "make_capture"
"$gprof_mt" report -i d --format json quality >rows || fail "quality of a capture with contradictions"
same "contradictions" 1 "$(jq '[.quality[] | select(.what == "acquisition stamped later than one that followed it") | .count] | add' rows)"

# A model has the acquisitions in the order of their numbers: two threads take turns, although time says otherwise.
"$gprof_mt" replay --allow-gaps --write model d >rows 2>&1 || fail "replay: $(cat rows)"
same "ranks" "0 1 0 1" "$(awk '$1 == "thread" { n++ } $2 == "lock" { sub(/.*@/, ""); print $0, n - 1 }' model |
	sort -n | cut -d ' ' -f 2 | paste -s -d ' ')"
