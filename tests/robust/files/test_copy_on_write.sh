#!/bin/bash
# SPDX-License-Identifier: MIT
#
# On some file systems a store to a reserved page may find no space: btrfs, and XFS after a file was
# cloned.  With free space all events are recorded, also if the program ends by _exit(); for a killed
# program the report counts the threads whose last data was not written.  If the capture is cloned and the
# disk fills up in the middle of a run, the program runs as bare, and each loss is counted or reported.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

unset GPROF_MT_CONFIG LD_PRELOAD
ROUNDS=20000 CALLS=160000
for tool in mkfs.btrfs mkfs.xfs; do
	command -v $tool >/dev/null || skip "no $tool; apt-get install btrfs-progs xfsprogs"
done
build_pg kept
build_pg quick_exit
build ends_busy
top=$PWD
trap 'cd "$top"; umount -l disk 2>/dev/null' EXIT
mkdir disk

# with_disk KIND: makes a file system of that kind and mounts it
with_disk()
{
	rm -f image
	truncate -s 320M image
	if [ "$1" = xfs ]; then
		mkfs.xfs -q -m reflink=1 image >mkfs.out 2>&1
	else
		mkfs.btrfs -q image >mkfs.out 2>&1
	fi || fail "mkfs.$1: $(cat mkfs.out)"
	mount -o loop image disk 2>mount.err || skip "cannot mount: $(cat mount.err)"
}

# run HOW MIDDLE: runs the program in the mounted directory, and the command MIDDLE in its middle
run()
{
	cd disk || exit 1
	rm -rf gprof-mt.data gprof-mt.data.old gmon.out
	coproc program { LD_PRELOAD=$libsync exec "$top/kept" $ROUNDS "$1" 2>"$top/err"; }
	# shellcheck disable=SC2154 # set by coproc
	local pid=$program_PID in=${program[1]}
	read -r _ <&"${program[0]}" || fail "$1: expected 'half' from the program: $(cat "$top/err")"
	"$2"
	echo >&"$in"
	cat <&"${program[0]}" >"$top/out"
	wait "$pid"
	status=$?
	cd "$top" || exit 1
	grep -qx "$CALLS $CALLS" out || fail "$1: expected '$CALLS $CALLS', found: $(cat out err)"
}

fill()
{
	cp -r --reflink=auto gprof-mt.data clone || fail "cannot clone the capture"
	sync -f .
	dd if=/dev/zero of=filler bs=1M status=none 2>/dev/null
	dd if=/dev/zero of=filler2 bs=4k status=none 2>/dev/null
	sync -f .
}

unfill()
{
	rm -rf disk/clone disk/filler disk/filler2
}

# counted NAME: all calls and locks are in the capture
counted()
{
	local found locks
	found=$(python3 "$GM_TOP/tests/robust/programs/losses.py" disk/gprof-mt.data $CALLS) || fail "$1: calls: $found"
	"$gprof_mt" report -i disk/gprof-mt.data --format json locks >locks.json 2>report.err ||
		fail "$1: $(cat report.err)"
	locks=$(python3 "$GM_TOP/tests/robust/programs/recorded.py" <locks.json)
	[ "$found, $locks" = "$CALLS 0 0, 0 $CALLS" ] || fail "$1: expected '$CALLS 0 0, 0 $CALLS' (calls, lost, events lost, locks), found '$found, $locks'"
}

quality()
{
	"$gprof_mt" report -i disk/gprof-mt.data quality >found 2>&1 || fail "report quality: $(cat found)"
}

for kind in btrfs xfs; do
	with_disk $kind
	run return :
	[ $status = 7 ] || fail "$kind: exit status $status: $(cat err)"
	counted "$kind"
	quality
	grep -q "nothing lost" found || fail "$kind: expected 'nothing lost', found: $(cat found)"
	run _exit :
	[ $status = 7 ] || fail "$kind: _exit: exit status $status: $(cat err)"
	counted "$kind, _exit"
	# The parent of a daemon ends by an _exit() inside the C library.
	run daemon :
	[ $status = 0 ] || fail "$kind: daemon: exit status $status: $(cat err)"
	counted "$kind, daemon"
	joins=$(babeltrace2 disk/gprof-mt.data/*/user 2>/dev/null | grep -c ' thread_join: ')
	[ "$joins" = 4 ] || fail "$kind, daemon: expected 4 joins by the main thread, found $joins"
	run kill :
	[ $status = 137 ] || fail "$kind: kill: expected exit status 137, found $status"
	quality
	grep -q "whose last data was not written" found || fail "$kind: killed: expected 'whose last data was not written', found: $(cat found)"
	for round in 1 2; do
		run return fill
		[ $status = 7 ] || fail "$kind: full: exit status $status: $(cat err)"
		unfill
		quality
		python3 "$GM_TOP/tests/robust/programs/losses.py" disk/gprof-mt.data $CALLS >calls ||
			{ grep -q "cannot write data of the capture" err &&
				grep -q "whose last data was not written" found; } ||
			fail "$kind: full: '$(cat calls)' (calls, lost, events lost) of $CALLS, and no report of the rest: $(cat found)"
		echo "$kind, full, round $round: $(cat calls) calls, lost, events lost"
	done
	# At exit() the last packets are written while threads go on: each packet is complete.
	cd disk || exit 1
	printf '[sync]\nmode = all\n' >all.conf
	for round in $(seq 1 20); do
		GPROF_MT_CONFIG=all.conf LD_PRELOAD=$libsync fresh timeout 60 "$top/ends_busy" 2>"$top/err"
		[ $? = 7 ] || fail "$kind: ends_busy: $(cat "$top/err")"
		python3 "$programs/packets.py" gprof-mt.data || fail "$kind: ends_busy, round $round"
	done
	# Calls and locks in a handler of quick_exit() are recorded, too.
	GPROF_MT_CONFIG=all.conf LD_PRELOAD=$libsync fresh timeout 60 "$top/quick_exit" 2>"$top/err"
	[ $? = 7 ] || fail "$kind: quick_exit: $(cat "$top/err")"
	cd "$top" || exit 1
	CALLS=11
	counted "$kind, quick_exit"
	CALLS=160000
	umount disk
done
