#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A small disk fills up and has free space again, at random instants: the program runs as bare, each call
# is recorded or counted as lost, and no more locks are missing than events are counted as lost.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

unset GPROF_MT_CONFIG LD_PRELOAD
build_pg filled
mkdir disk
mount -t tmpfs -o size=1m none disk 2>/dev/null || skip "cannot mount a tmpfs"
top=$PWD filler=
trap 'cd "$top"; [ -z "$filler" ] || kill "$filler"; umount -l disk' EXIT
./filled 100 >expected
rm -rf gprof-mt.data gmon.out*
calls=$(cut -d ' ' -f 1 expected) locks=$(cut -d ' ' -f 2 expected)
printf '[sync]\nmode = all\n' >all.conf
all_counted=0 all_lost=0 all_events=0 n_without=0
cd disk || exit 1
for round in $(seq 8); do
	rm -rf gprof-mt.data gprof-mt.data.old gmon.out*
	python3 "$programs/filler.py" filler "$round$RANDOM" &
	filler=$!
	until [ -e filler ]; do kill -0 $filler || fail "filler.py ended early"; done
	timeout 60 env LD_PRELOAD="$libsync" GPROF_MT_CONFIG="$top/all.conf" "$top/filled" 100 >"$top/out" 2>"$top/err"
	status=$?
	rm -f filler
	wait $filler
	filler=
	[ $status = 7 ] || fail "round $round: exit status $status: $(cat "$top/err")"
	cmp "$top/expected" "$top/out" || fail "round $round: the output differs from the bare program's"
	if ! ls gprof-mt.data/*/threads >"$top/list" 2>&1; then
		[ -s "$top/err" ] || fail "round $round: no capture, and no message on stderr"
		n_without=$((n_without + 1))
		continue
	fi
	found=$(python3 "$GM_TOP/tests/robust/programs/losses.py" gprof-mt.data "$calls") ||
		fail "round $round: expected $calls calls, recorded or lost, found '$found' (calls, lost, events lost)"
	"$gprof_mt" report --format json locks >"$top/locks.json" 2>"$top/report.err" ||
		fail "round $round: locks: $(cat "$top/report.err")"
	read -r _ acquired <<<"$(python3 "$GM_TOP/tests/robust/programs/recorded.py" <"$top/locks.json")"
	read -r counted lost events <<<"$found"
	[ "$acquired" -le "$locks" ] || fail "round $round: expected at most $locks locks, found $acquired"
	[ $((locks - acquired)) -le "$events" ] ||
		fail "round $round: $((locks - acquired)) of $locks locks are missing, but only $events events are counted as lost"
	all_counted=$((all_counted + counted)) all_lost=$((all_lost + lost))
	all_events=$((all_events + events))
done
echo "8 rounds, $n_without without a capture: $all_counted calls counted, $all_lost lost;" \
	"$all_events events lost"
[ $((all_lost + all_events)) -gt 0 ] || fail "the disk was never full"
