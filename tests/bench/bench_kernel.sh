#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the cost of recording kernel events at a high rate: two threads on one CPU pass a turn back and
# forth, so that each round is two context switches.  Compared is the wall time of the program alone: bare,
# under each level of `record`, through perf's tracepoints, and under `perf record` of the same two
# tracepoints.  Rounds alternate; the median of ROUNDS (default 5) counts.  Further rows give the lost events
# and the bytes per event on disk; the slowdown of a program that only makes system calls while another,
# idle program is recorded at level full; and the four examples at level full, also by user + sys, which
# other load disturbs less.  Captures are kept to the end: file systems are slow to create files just after
# many were deleted.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-5}
handovers=200000
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPROF_MT_CONFIG LD_PRELOAD
export TIMEFORMAT='%R %U %S'
$CC -std=gnu17 -O2 -pthread -o pingpong "$GM_TOP/tests/record/programs/pingpong.c"

# row WHAT PEER PEER_VALUE OUR_VALUE UNIT BUDGET_RATIO|-
row()
{
	awk -v what="$1" -v peer="$2" -v p="$3" -v o="$4" -v unit="$5" -v b="$6" 'BEGIN {
		printf "%s\t%s\t%.3f\t%.3f\t%s\t%s\t%s\t%s\n", what, peer, p, o, unit,
			(p > 0 ? sprintf("%.3f", o / p) : "-"), b,
			(b == "-" ? b : o <= b * p ? "pass" : "miss") }'
}

median()
{
	sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# timed STATUS FILE COMMAND...: appends the wall seconds to FILE; fails if the exit status is not STATUS.
timed()
{
	local wanted=$1 file=$2 status=0
	shift 2
	{ time "$@" >out 2>err; } 2>seconds || status=$?
	[ $status = "$wanted" ] || { echo "$1: expected exit status $wanted, got $status" >&2; cat err >&2; exit 1; }
	awk '{ print $1 }' seconds >>"$file"
}

# recorded FILE LEVEL SOURCE: appends the seconds of the program alone, from the times in the capture.
recorded()
{
	"$GM_BUILD/gprof-mt" record -q -o data --profile "$2" --set kernel.source="$3" --set sync.mode=off -- ./pingpong $handovers \
		>out 2>err || [ $? = 3 ] || { cat err >&2; exit 1; }
	jq '(.end_ns - .start_ns) / 1e9' data/info.json >>"$1"
	[ "$3" != auto ] || jq '[.losses[].count] | add // 0' data/info.json >>lost
	rm -rf "data.$1"
	mv data "data.$1"
}

for _ in $(seq "$rounds"); do
	timed 3 bare ./pingpong $handovers
	recorded full-sched full-sched auto
	recorded tracepoints full-sched perf
	recorded full full auto
	if command -v perf >/dev/null; then
		timed 3 perf perf record -q -a -k CLOCK_MONOTONIC -e sched:sched_switch -e sched:sched_waking -o perf.data \
			./pingpong $handovers
	fi
done
bare=$(median bare)
rate=$(awk -v s="$bare" -v n=$handovers 'BEGIN { printf "%.0f", 2 * n / s }')
row "$rate context switches per second, full-sched" "not recorded" "$bare" "$(median full-sched)" s -
awk -v b="$bare" -v o="$(median full-sched)" -v n=$handovers 'BEGIN { us = (o - b) / (2 * n) * 1e6
	printf "a switch and its waking (10 %% at 100,000 per second)\tbudget\t1\t%.2f\tus\t%.2f\t1\t%s\n", us, us,
		(us <= 1 ? "pass" : "miss") }'
row "the same" "by perf tracepoints (kernel.source=perf)" "$(median tracepoints)" "$(median full-sched)" s -
[ ! -s perf ] || row "the same" "perf record of the same tracepoints" "$(median perf)" "$(median full-sched)" s -
row "the same, full" "not recorded" "$bare" "$(median full)" s -
awk '{ n += $1 } END { printf "events lost in these runs\tbudget\t0\t%d\tevents\t-\t0\t%s\n", n,
	(n == 0 ? "pass" : "miss") }' lost
for level in full-sched full; do
	awk -v level="$level" -v bytes="$(du -cb data."$level"/kernel/[!m]* | tail -n 1 | cut -f 1)" \
		-v n="$(jq .kernel.events "data.$level/info.json")" 'BEGIN { b = bytes / n
		printf "bytes of a kernel event on disk, %s\tbudget\t32\t%.1f\tbytes\t%.3f\t32\t%s\n", level, b,
			b / 32, (b <= 32 ? "pass" : "miss") }'
done

# stranger FILE [SOURCE]: times dd, while `record` records an idle program if SOURCE is given.
stranger()
{
	local record=
	if [ $# -gt 1 ]; then
		"$GM_BUILD/gprof-mt" record -q -o data --profile full --set kernel.source="$2" -- cat <held >ready 2>err &
		record=$!
		exec 9>held
		echo >&9
		until [ -s ready ]; do sleep 0.05; done
	fi
	timed 0 "$1" dd if=/dev/zero of=/dev/null bs=1 count=500000
	[ -z "$record" ] || { exec 9>&-; wait $record; rm -rf ready data; }
}
mkfifo held
for _ in $(seq "$rounds"); do
	stranger dd
	stranger dd.auto auto
	stranger dd.perf perf
done
row "dd bs=1 beside a program recorded at full" "nothing recorded" "$(median dd)" "$(median dd.auto)" s -
row "the same" "by perf tracepoints (kernel.source=perf)" "$(median dd.perf)" "$(median dd.auto)" s -

# example NAME SIZE
example()
{
	local round plain=$GM_BUILD/examples/plain/$1 profiled=$GM_BUILD/examples/$1
	rm -f plain ours plain.cpu ours.cpu
	for round in $(seq "$rounds"); do
		timed 0 plain "$plain" "$2"
		awk '{ print $2 + $3 }' seconds >>plain.cpu
		timed 0 ours "$GM_BUILD/gprof-mt" record -q -o "kept.$1.$2.$round" --profile full -- "$profiled" "$2"
		awk '{ print $2 + $3 }' seconds >>ours.cpu
	done
	row "$1 $2, full, wall" "not profiled" "$(median plain)" "$(median ours)" s 1.05
	row "$1 $2, full, user+sys" "not profiled" "$(median plain.cpu)" "$(median ours.cpu)" s -
}
for run in 'philosophers 10' 'philosophers 100' 'client_server 30' 'client_server 80' \
	'crossroad 10' 'crossroad 1000' 'farm 4' 'farm 32'; do
	# shellcheck disable=SC2086 # name and size
	example $run
done
