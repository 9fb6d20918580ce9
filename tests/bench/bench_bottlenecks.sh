#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The reader of `report bottlenecks`, and that of `graph --kind sydg`, which follows each edge: time per operation and
# peak memory, on captures with every operation of N (default 1,000,000) nested critical sections of four threads, and
# of a quarter as many. Memory has to be flat, and the time of the report below 1/3 us, as for 3 M operations/s.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

n=${N:-1000000}
memory_budget=1.2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPROF_MT_CONFIG LD_PRELOAD
$CC -std=gnu17 -O2 -g -pthread -o chains "$GM_TOP/tests/bench/bottlenecks/chains.c"
for part in 4 1; do
	"$GM_BUILD/gprof-mt" record -q -o "capture$part" --set sync.mode=all --set kernel.source=none \
		-- ./chains $((n / part))
done

# row BUDGET|- COMMAND...
row()
{
	local few all time_budget=$1
	shift
	few=$(python3 "$GM_TOP/tests/bench/read_cost.py" "$GM_BUILD/gprof-mt" capture4 "$@")
	all=$(python3 "$GM_TOP/tests/bench/read_cost.py" "$GM_BUILD/gprof-mt" capture1 "$@")
	awk -v what="$*" -v few="$few" -v all="$all" -v tb="$time_budget" -v mb=$memory_budget 'BEGIN {
		split(few, f); split(all, a)
		fns = f[2] / f[1] * 1e9; ns = a[2] / a[1] * 1e9
		printf "%s, %.1f M operations\tthe same, %.1f M operations\t%.0f\t%.0f\tns/op\t%.3f\t%s\t%s\n",
			what, a[1] / 1e6, f[1] / 1e6, fns, ns, ns / fns, tb, tb == "-" ? tb : ns <= tb + 0 ? "pass" : "miss"
		printf "peak memory of it\ta quarter of the operations\t%d\t%d\tMiB\t%.3f\t%.1f\t%s\n",
			f[3], a[3], a[3] / f[3], mb, a[3] / f[3] <= mb ? "pass" : "miss" }'
}

row 333 report bottlenecks
row - graph --kind sydg
