#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that may not read the TSC (PR_SET_TSC, in main, in a constructor, in threads, back and
# forth; strict seccomp by prctl and by seccomp) run as they do without us, recorded by a slower
# clock, in order of time.  In strict seccomp there is no clock and no system call: what is lost
# is counted.
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
			[ "$got" = "$expected" ] || fail "$what: $got, not $expected"
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
			[ "$locks" -eq "$want" ] || fail "$what: $locks locks, not $want"
			if [ $way = strict ] || [ $way = strict-seccomp ]; then
				grep -q "seccomp" lost || fail "$what: nothing is said of what is lost"
			fi
		done
	done
done
echo "$runs runs in which the TSC may not be read"
exit 0
