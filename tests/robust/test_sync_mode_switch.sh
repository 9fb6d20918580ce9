#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What threads waited for, how long, and where it was held, is the same whether all is recorded, or
# only waits, or threads are switched from one to the other in the middle (sync.mode = auto).  The
# program sees to it how often each object is waited for, and measures the waits itself.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need python3
build switched
unset GPROF_MT_CONFIG LD_PRELOAD
rounds=40 pairs=1000000

for mode in all auto contended default; do
	[ $mode = default ] && settings='' || settings="[sync]\nmode = $mode\n"
	printf '%b' "$settings" >gprof-mt.conf
	[ $mode != all ] || pairs=100000
	fresh env LD_PRELOAD="$libsync" ./switched $pairs $rounds >waits || fail "$mode: exit status $?"
	pairs=1000000
	"$gprof_mt" report --format json summary sync locks quality >report.json || fail "$mode: report: exit status $?"
	for kind in precedence lock-order wait; do
		"$gprof_mt" graph --kind $kind --format json >$kind.json || fail "$mode: graph $kind: exit status $?"
	done
	"$gprof_mt" report critical-path >/dev/null || fail "$mode: critical-path: exit status $?"
	n=$("$gprof_mt" report sync | grep -oE '[0-9]+ of [0-9]+ threads recorded in full until' | cut -d ' ' -f 1)
	echo "$mode: ${n:-0} threads switched"
	case $mode in
	auto|default) [ "${n:-0}" = 2 ] || fail "$mode: ${n:-0} threads switched, not 2" ;;
	*) [ "${n:-0}" = 0 ] || fail "$mode: ${n:-0} threads switched" ;;
	esac
	python3 "$GM_TOP/tests/robust/switched.py" $mode waits report.json || fail "$mode: the waits are not as they were"
done
