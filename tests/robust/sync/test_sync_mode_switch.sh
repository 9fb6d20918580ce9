#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The objects, durations and holders of waits are the same if all operations are recorded, if only waits
# are, and if threads are switched from all to waits in the middle (sync.mode = auto).  The program
# determines the number of waits for each object, and measures the waits itself.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need python3
build mode_switch
unset GPROF_MT_CONFIG LD_PRELOAD
# So many that each thread is checked, on a fast machine, too.
rounds=40 pairs=4000000

for mode in all auto contended default; do
	[ $mode = default ] && settings='' || settings="[sync]\nmode = $mode\n"
	printf '%b' "$settings" >gprof-mt.conf
	[ $mode != all ] || pairs=100000
	fresh env LD_PRELOAD="$libsync" ./mode_switch $pairs $rounds >waits || fail "$mode: exit status $?"
	pairs=4000000
	"$gprof_mt" report --format json summary sync locks quality >report.json || fail "$mode: report: exit status $?"
	for kind in precedence lock-order wait; do
		"$gprof_mt" graph --kind $kind --format json >$kind.json || fail "$mode: graph $kind: exit status $?"
	done
	"$gprof_mt" report critical-path >/dev/null || fail "$mode: critical-path: exit status $?"
	n=$("$gprof_mt" report sync | grep -oE '[0-9]+ of [0-9]+ threads recorded in full until' | cut -d ' ' -f 1)
	echo "$mode: ${n:-0} threads switched"
	case $mode in
	auto|default) [ "${n:-0}" = 2 ] || fail "$mode: expected 2 switched threads, found ${n:-0}" ;;
	*) [ "${n:-0}" = 0 ] || fail "$mode: expected no switched thread, found ${n:-0}" ;;
	esac
	python3 "$GM_TOP/tests/robust/sync/mode_switch.py" $mode waits report.json || fail "$mode: the reported waits differ from those of the program"
done
