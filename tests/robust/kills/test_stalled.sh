#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread starts while another is stopped in a part of the runtime that the new thread needs.  The new
# thread is recorded as soon as the other goes on; its events before are counted as lost, for that reason.
. "$GM_TOP/tests/lib.sh"

build_pg stalled
printf '[sync]\nmode = all\n' >all.conf
for mode in calls sync; do
	preload=
	[ $mode = calls ] || preload=$libsync
	GPROF_MT_CONFIG=$PWD/all.conf LD_PRELOAD=$preload fresh timeout 60 ./stalled $mode >out 2>err
	status=$?
	[ $status != 77 ] || skip "no seccomp filter"
	[ $status = 0 ] && [ ! -s err ] || fail "$mode: exit status $status: $(cat out err)"
	posts=0
	[ $mode = calls ] || posts=$(babeltrace2 gprof-mt.data/*/user | grep -c sem_post)
	"$gprof_mt" report --format json quality flat >report.json 2>err || fail "$mode: $(cat err)"
	python3 "$programs/stalled.py" $mode out report.json "$posts" || fail "$mode: wrong counts: $(grep -o '"quality".*' report.json | head -c 2000)"
done
exit 0
