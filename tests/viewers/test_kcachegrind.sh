#!/bin/bash
# SPDX-License-Identifier: MIT
# KCachegrind loads an exported profile completely and without a complaint: it complains only about an invalid line that
# the test appends.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"
need kcachegrind dbus-run-session
export HOME=$PWD XDG_RUNTIME_DIR=$PWD QT_QPA_PLATFORM=offscreen LC_ALL=C.UTF-8

# loaded FILE: prints the messages about lines of FILE, whose last line is invalid
loaded()
{
	rm -f pid
	# shellcheck disable=SC2016 # for sh to expand
	dbus-run-session -- sh -c 'kcachegrind "$1" & echo $! >pid; wait' sh "$1" >said 2>&1 &
	for ((tries = 0; tries < 600; tries++)); do
		if grep -q "'no such line'" said || { [ -s pid ] && ! kill -0 "$(cat pid)" 2>/dev/null; }; then
			break
		fi
		sleep 0.1
	done
	kill "$(cat pid)" 2>/dev/null
	wait
	grep '^Loading ' said
}

build_pg ratio
for hz in 250 0; do
	fresh "$gprof_mt" record -q --set kernel.source=none --set sample.hz=$hz -- ./ratio 60 2 >out ||
		fail "ratio at $hz Hz: expected exit status 0, got $?"
	"$gprof_mt" export --format callgrind -o profile 2>err || fail "export: $(cat err)"
	echo 'no such line' >>profile
	loaded profile >complaints
	[ "$(cat complaints)" = "Loading \"./profile\" : $(wc -l <profile) :  \"Invalid line 'no such line'\"" ] ||
		fail "at $hz Hz: expected only a complaint about the last line, found: $(cat said)"
done
exit 0
