#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The run time of live replays, against the recorded run, of a program that is not limited by its locks: runs are
# recorded and replayed in alternation, since the load of the machine changes.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-5}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
${CC:-gcc} -O2 -pthread -o live "$GM_TOP/tests/bench/live.c"

median()
{
	sort -n "$1" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

for threads in 2 8; do
	rm -f replayed.ms
	for _ in $(seq "$rounds"); do
		"$GM_BUILD/gprof-mt" replay -q --engine=live --unchecked --runs=1 --format json -- ./live $threads $((20000 / threads)) >rows
		jq -r '.live_replays[0].run_ns / 1e6' rows >>replayed.ms
		jq -r '.notes[0].note' rows | sed -n 's/.* take \([0-9.]*\) times .*/\1/p' >>ratios
	done
	awk -v n=$threads -v o="$(median replayed.ms)" -v r="$(median ratios)" 'BEGIN {
		printf "live replay, %d threads that compute between locks (budget: ratio)\trecorded run\t%.0f\t%.0f\tms\t%.2f\t1.50\t%s\n",
			n, o / r, o, r, r <= 1.5 ? "pass" : "miss" }'
	rm -f ratios
done
