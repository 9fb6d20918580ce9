#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The disk is full when a process makes its first call: the program runs as bare.  Its calls and locks
# are counted as lost until there is free space, and are recorded from then on.
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

# one WHEN COMMAND...: runs the command on the full disk; sets calls and locks to those of the program
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

# check WHEN LEAST MOST: LEAST to MOST calls and locks are recorded; the others are counted as lost
check()
{
	local when=$1 least=$2 most=$3 found acquired counted lost events
	found=$(python3 "$GM_TOP/tests/robust/programs/losses.py" gprof-mt.data "$calls") ||
		fail "$when: expected $calls calls, recorded or lost, found '$found' (calls, lost, events lost): $(cat "$top/err")"
	read -r counted lost events <<<"$found"
	"$gprof_mt" report --format json locks quality >"$top/report.json" 2>"$top/report.err" ||
		fail "$when: $(cat "$top/report.err")"
	read -r _ acquired <<<"$(python3 "$GM_TOP/tests/robust/programs/recorded.py" <"$top/report.json")"
	echo "$when: $counted calls counted, $lost lost; $acquired locks, $events events lost"
	[ "$counted" -ge "$least" ] && [ "$counted" -le "$most" ] || fail "$when: expected $least to $most recorded calls, found $counted"
	[ "${acquired:-0}" -ge "$least" ] && [ "${acquired:-0}" -le "$most" ] ||
		fail "$when: expected $least to $most recorded locks, found $acquired"
	[ $((2 * (locks - acquired))) -le "$events" ] || fail "$when: expected at least $((2 * (locks - acquired))) lost events, found $events"
	for what in "calls of unknown threads not counted: no room on the disk" \
		"synch-events of unknown threads not written: no room on the disk"; do
		grep -q "$what" "$top/report.json" || fail "$when: no '$what' in quality"
	done
	! grep "process not recorded" "$top/report.json" || fail "$when: a recorded process is reported as not recorded"
}

fill='cat /dev/zero >filler 2>/dev/null; exec "$@"'
alone=(bash -c "$fill" - timeout 60 env LD_PRELOAD="$libsync" GPROF_MT_CONFIG="$top/all.conf"
	"$top/no_room" filler)
record=("$gprof_mt" record --set sync.mode=all --set kernel.source=none -- bash -c "$fill" -
	"$top/no_room" filler)

one middle "${alone[@]}" middle
[ "$(grep -c "until there is room" "$top/err")" = 1 ] || fail "expected one line on stderr about the full disk, found: $(cat "$top/err")"
check middle 1000 $((calls - 1))
one end "${alone[@]}" end
check end 0 0
one never "${alone[@]}" never
[ "$(wc -l <"$top/err")" = 1 ] || fail "expected one line on stderr about the full disk, found: $(cat "$top/err")"
[ "$calls $locks" = "2000 2000" ] || fail "never: expected 2000 calls and 2000 locks, found $calls and $locks"
[ "$(ls)" = filler ] || fail "never: expected only the file filler, found: $(ls)"
one "record, middle" "${record[@]}" middle
check "record, middle" 1000 $((calls - 1))
one "record, end" "${record[@]}" end
check "record, end" 0 0
