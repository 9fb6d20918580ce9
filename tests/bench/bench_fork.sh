#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the cost of a child of fork() that takes one lock and calls one function: wall time and CPU time
# of the profiled and of the bare program.  Runs alternate; the median of RUNS (default 5) counts.  The time
# of a run with one child is subtracted, so `record` counts with what its end does for each child, and not
# with its own start.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

runs=${RUNS:-5} children=${CHILDREN:-1000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GMON_OUT_PREFIX GPROF_MT_CONFIG
CC=${CC:-gcc}
TIMEFORMAT='%R %U %S'

$CC -std=gnu17 -O1 -pthread -o fork "$GM_TOP/tests/robust/fork/programs/fork_faults.c"
$CC -std=gnu17 -O1 -pg -pthread -o fork.pg "$GM_TOP/tests/robust/fork/programs/fork_faults.c" \
	-L"$GM_BUILD" -lgmon_mt -Wl,-rpath,"$GM_BUILD"

# seconds COMMAND...: prints the command's wall and CPU time
seconds()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	{ time "$@" >/dev/null 2>&1; } 2>seconds
	awk '{ print $1, $2 + $3 }' seconds
}

# measure NAME COMMAND...: appends a line "wall CPU", in ms per child, to the file NAME.  The command gets
# the number of children as its last argument.
measure()
{
	local name=$1
	shift
	{ seconds "$@" 1 && seconds "$@" $((children + 1)); } | awk -v n="$children" '
		{ wall = $1 - wall; cpu = $2 - cpu }
		END { print wall * 1000 / n, cpu * 1000 / n }' >>"$name"
}

record=("$GM_BUILD/gprof-mt" record -q --set kernel.source=none)
for ((i = 0; i < runs; i++)); do
	measure bare ./fork
	measure sync env LD_PRELOAD="$GM_BUILD/libsync_trace.so" ./fork
	measure calls ./fork.pg
	measure both env LD_PRELOAD="$GM_BUILD/libsync_trace.so" ./fork.pg
	measure record_sync "${record[@]}" --set calls.mode=off -- ./fork
	measure record "${record[@]}" -- ./fork.pg
done

median()
{
	awk -v f="$2" '{ print $f }' "$1" | sort -n | sed -n $(((runs + 1) / 2))p
}

# row WHAT NAME FIELD BUDGET
row()
{
	awk -v what="$1" -v p="$(median bare "$3")" -v o="$(median "$2" "$3")" -v b="$4" 'BEGIN {
		printf "%s\tbare\t%s\t%s\tms\t%.3f\t%s\t%s\n", what, p, o, o / p, p + b, o - p <= b ? "pass" : "miss" }'
}

row "a child of fork, libsync-trace" sync 1 0.1
row "the same, CPU time" sync 2 0.1
row "a child of fork, libgmon-mt" calls 1 0.1
row "a child of fork, both" both 1 0.2
row "libsync-trace under record, its end included" record_sync 1 0.1
row "both under record, its end included" record 1 0.2
row "the same, CPU time" record 2 0.2
