#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A disk that is full when a process makes its first call: the program runs as bare; what it calls
# and locks is counted as lost until there is room, and recorded from then on.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

unset GPROF_MT_CONFIG LD_PRELOAD
build_pg no_room
mkdir disk
mount -t tmpfs -o size=4m none disk 2>/dev/null || skip "cannot mount a tmpfs"
top=$PWD
trap 'cd "$top"; umount -l disk' EXIT
printf '[sync]\nmode = all\n' >all.conf
cd disk || exit 1

# one WHEN COMMAND...: runs it with the disk full.  Sets found, acquired, calls and locks.
one()
{
	local when=$1 status
	shift
	rm -rf filler gprof-mt.data gprof-mt.data.old gmon.out
	"$@" >"$top/out" 2>"$top/err"
	status=$?
	[ $status = 7 ] || fail "$when: exit status $status: $(cat "$top/err")"
	read -r calls locks <"$top/out"
}

# check WHEN LEAST MOST: so many calls and locks at least and at most are recorded, the others lost.
check()
{
	local when=$1 least=$2 most=$3 found acquired counted lost events
	found=$(python3 "$programs/losses.py" gprof-mt.data "$calls") ||
		fail "$when: $found counted, lost and events lost, of $calls calls: $(cat "$top/err")"
	read -r counted lost events <<<"$found"
	"$gprof_mt" report --format json locks quality >"$top/report.json" 2>"$top/report.err" ||
		fail "$when: $(cat "$top/report.err")"
	read -r _ acquired <<<"$(python3 "$programs/recorded.py" <"$top/report.json")"
	echo "$when: $counted calls counted, $lost lost; $acquired locks, $events events lost"
	[ "$counted" -ge "$least" ] && [ "$counted" -le "$most" ] || fail "$when: $counted calls"
	[ "${acquired:-0}" -ge "$least" ] && [ "${acquired:-0}" -le "$most" ] ||
		fail "$when: $acquired locks"
	[ $((2 * (locks - acquired))) -le "$events" ] || fail "$when: $events events lost"
	for what in "calls of unknown threads: no room on the disk" \
		"synch-events of unknown threads: no room on the disk"; do
		grep -q "$what" "$top/report.json" || fail "$when: no '$what' in quality"
	done
	! grep "not recorded" "$top/report.json" || fail "$when: it was recorded"
}

fill='cat /dev/zero >filler 2>/dev/null; exec "$@"'
alone=(bash -c "$fill" - timeout 60 env LD_PRELOAD="$libsync" GPROF_MT_CONFIG="$top/all.conf"
	"$top/no_room" filler)
record=("$gprof_mt" record --set sync.mode=all --set kernel.source=none -- bash -c "$fill" -
	"$top/no_room" filler)

one middle "${alone[@]}" middle
[ "$(grep -c "until there is room" "$top/err")" = 1 ] || fail "nobody says why: $(cat "$top/err")"
check middle 1000 $((calls - 1))
one end "${alone[@]}" end
check end 0 0
one never "${alone[@]}" never
[ "$(wc -l <"$top/err")" = 1 ] || fail "nobody says why: $(cat "$top/err")"
[ "$calls $locks" = "2000 2000" ] || fail "never: $calls calls, $locks locks"
[ "$(ls)" = filler ] || fail "never: $(ls) is there"
one "record, middle" "${record[@]}" middle
check "record, middle" 1000 $((calls - 1))
one "record, end" "${record[@]}" end
check "record, end" 0 0
