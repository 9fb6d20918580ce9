#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures how fast a capture is read: `report` with all its default sections, against babeltrace2
# reading the same streams and dropping the events.  A capture with few streams and one with many are
# read, because babeltrace2's muxer looks at every stream for every event.  Runs alternate; the
# minimum CPU time of ROUNDS (default 5) counts.  A further row checks that the memory of `report`
# does not grow with ten times as many events.
#
# For call histories: the CPU time of computing times by stack and function, against `uftrace report`
# on a recording of the same program by uftrace; and the wall time on all CPUs against that on one.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-5}
budget=0.6
memory_budget=1.1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
. "$GM_TOP/tests/bench/timed.sh"

# clocked FILE COMMAND...: appends the seconds of wall time to FILE.
clocked()
{
	local file=$1 TIMEFORMAT=%R
	shift
	{ time "$@" >out 2>err; } 2>>"$file" || { cat err >&2; exit 1; }
}

# on_cpus WHAT RECORDS COMMAND...: prints the row that compares the command on all CPUs with the same on one.
on_cpus()
{
	local what=$1 records=$2 cpu
	shift 2
	cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
	rm -f one all
	for _ in $(seq "$rounds"); do
		clocked one taskset -c "$cpu" "$@"
		clocked all "$@"
	done
	awk -v n="$records" -v what="$what" -v p="$(sort -n one | head -1)" -v o="$(sort -n all | head -1)" 'BEGIN {
		printf "%s %.1f M calls and returns, %d M/s\tthe same on one CPU\t%.1f\t%.1f\tns/record of wall time\t%.3f\t-\t-\n",
			what, n / 1e6, n / o / 1e6, p / n * 1e9, o / n * 1e9, o / p }'
}

bench()
{
	local threads=$1 events=$2
	rm -f theirs ours
	"$GM_BUILD/tests/ctf/make_capture" capture "$threads" "$events"
	for _ in $(seq "$rounds"); do
		timed theirs babeltrace2 --output-format=dummy capture
		timed ours "$GM_BUILD/gprof-mt" report -i capture
	done
	awk -v n="$events" -v t="$threads" -v b=$budget \
		-v p="$(sort -n theirs | head -1)" -v o="$(sort -n ours | head -1)" 'BEGIN {
		printf "reading %.1f M events of %d streams, all sections\tbabeltrace2 dummy sink", n / 1e6, t
		printf "\t%.0f\t%.0f\tns/event\t%.3f\t%s\t%s\n", p / n * 1e9, o / n * 1e9, o / p, b,
			o / p <= b ? "pass" : "miss" }'
	rm -rf capture
}

# peak_kib EVENTS: prints the peak memory of a report on a capture with EVENTS events.
peak_kib()
{
	"$GM_BUILD/tests/ctf/make_capture" capture 4 "$1"
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$GM_BUILD/gprof-mt" report -i capture
	rm -rf capture
}

bench_calls()
{
	local threads=2 loops=2000000 records link="-L$GM_BUILD -lgmon_mt -Wl,-rpath,$GM_BUILD"
	local name="uftrace report" theirs=-

	records=$((6 * loops * threads)) # three functions, entered and left
	rm -f theirs ours
	# shellcheck disable=SC2086 # several words
	${CC:-gcc} -std=gnu17 -O2 -pthread -pg -mfentry -minstrument-return=call -o calls \
		"$GM_TOP/tests/bench/count/three.c" $link
	"$GM_BUILD/gprof-mt" record -q -o capture --profile applic-only --set calls.mode=history -- \
		./calls $threads $loops >out
	if command -v uftrace >/dev/null; then
		${CC:-gcc} -std=gnu17 -O2 -pthread -pg -o traced "$GM_TOP/tests/bench/count/three.c"
		uftrace record -d uftrace.data --no-libcall ./traced $threads $loops >out 2>err
	else
		name="uftrace (not installed)"
	fi
	for _ in $(seq "$rounds"); do
		[ ! -e uftrace.data ] || timed theirs uftrace report -d uftrace.data
		timed ours "$GM_BUILD/gprof-mt" export -i capture --format folded --what time -o -
	done
	[ ! -e theirs ] || theirs=$(sort -n theirs | head -1)
	awk -v n=$records -v name="$name" -v p="$theirs" -v o="$(sort -n ours | head -1)" 'BEGIN {
		printf "times of %.1f M calls and returns\t%s\t%s\t%.1f\tns/record\t%s\t-\t-\n", n / 1e6,
			name, p == "-" ? p : sprintf("%.1f", p / n * 1e9), o / n * 1e9,
			p == "-" ? p : sprintf("%.3f", o / p) }'
	on_cpus "times of" $records "$GM_BUILD/gprof-mt" export -i capture --format folded --what time -o -
	on_cpus "critical path of" $records "$GM_BUILD/gprof-mt" report -i capture critical-path
	rm -rf capture uftrace.data
}

bench 4 1000000
bench 300 500000
bench_calls
few=$(peak_kib 500000)
many=$(peak_kib 5000000)
awk -v f="$few" -v m="$many" -v b=$memory_budget 'BEGIN {
	printf "peak memory of a report, 5 M events\tthe same, 0.5 M events\t%d\t%d\tKiB\t%.3f\t%s\t%s\n",
		f, m, m / f, b, m / f <= b ? "pass" : "miss" }'
