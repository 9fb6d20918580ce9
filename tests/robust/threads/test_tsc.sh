#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that may not read the TSC run as bare, and are recorded by a slower clock, in order of time.
# PR_SET_TSC is set in main, in a constructor, in threads, and back and forth; strict seccomp is set by
# prctl() and by seccomp().  In strict seccomp there is no clock and no system call: lost events are
# counted.
. "$GM_TOP/tests/lib.sh"

rounds=2000
build tsc
mv tsc bare
build_pg tsc
printf '[calls]\nmode = history\n[sync]\nmode = all\n' >history.conf
printf '[sync]\nmode = all\n' >count.conf
runs=0
for way in main early thread switch strict strict-seccomp; do
	unset TSC_EARLY
	[ $way != early ] || export TSC_EARLY=1
	expected=$(./bare $way $rounds) || fail "bare $way: exit status $?"
	for config in count history; do
		for preload in "" "$libsync"; do
			what="$way $config ${preload##*/}"
			got=$(GPROF_MT_CONFIG=$PWD/$config.conf LD_PRELOAD=$preload fresh \
				timeout 60 ./tsc $way $rounds) || fail "$what: exit status $?"
			[ "$got" = "$expected" ] || fail "$what: expected '$expected', found '$got'"
			"$gprof_mt" report --format json quality >lost 2>err || fail "$what: $(cat err)"
			runs=$((runs + 1))
			[ -n "$preload" ] || continue
			babeltrace2 --clock-seconds --no-delta gprof-mt.data/*/user >events 2>err ||
				fail "$what: babeltrace2: $(tail -n 3 err)"
			locks=$(grep -c ' mutex_lock: ' events)
			# [seconds.nanoseconds]: in order, and within the run.
			awk -F '[][]' '$2 < last { n++ } { last = $2 } END { exit n > 0 }' events ||
				fail "$what: events are not in order of time"
			case $way in
			strict*) want=$((2 * rounds)) ;;
			*) want=${expected##* } ;;
			esac
			[ "$locks" -eq "$want" ] || fail "$what: expected $want locks, found $locks"
			if [ $way = strict ] || [ $way = strict-seccomp ]; then
				grep -q "seccomp" lost || fail "$what: expected a row about seccomp in section quality"
			fi
		done
	done
done
echo "$runs runs in which the TSC may not be read"
exit 0
