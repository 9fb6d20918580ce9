#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures what a ring costs beyond a recording that keeps everything: the CPU time of a program that locks and unlocks
# all the time, in a ring of 64M and in one of 4M, which goes round every few milliseconds; and of `record` itself, with
# a condition that never comes true.  Rounds alternate; the median of ROUNDS (default 5) counts.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-5}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPROF_MT_CONFIG LD_PRELOAD
$CC -std=gnu17 -O2 -pthread -o bench "$GM_TOP/tests/bench/bench_sync.c"

median()
{
	sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# cpu FILE OPTION...: appends the CPU time of the program, in ms, to FILE.
cpu()
{
	local file=$1
	shift
	rm -rf gprof-mt.data gprof-mt.data.old
	"$GM_BUILD/gprof-mt" record -q --set kernel.source=none --set sync.mode=all "$@" -- ./bench "$name" 4000000 >/dev/null
	python3 -c '
import json
usage = json.load(open("gprof-mt.data/info.json"))["rusage"]
print((usage["user_ns"] + usage["system_ns"]) / 1e6)' >>"$file"
}

# row WHAT PEER_MS OUR_MS BUDGET
row()
{
	awk -v what="$1" -v p="$2" -v o="$3" -v b="$4" 'BEGIN {
		printf "%s\tall is kept\t%.1f\t%.1f\tms\t%.2f\t%s\t%s\n", what, p, o, o / p, b,
			b == "-" ? b : o / p <= b ? "pass" : "miss" }'
}

for name in uncontended contended; do
	rm -f all large small when
	for _ in $(seq "$rounds"); do
		cpu all
		cpu large --ring 64M
		cpu small --ring 4M
		cpu when --ring 64M --when 'wait > 60s'
	done
	row "4 M locks and unlocks, $name, ring of 64M" "$(median all)" "$(median large)" 1.1
	row "4 M locks and unlocks, $name, ring of 4M" "$(median all)" "$(median small)" -
	row "4 M locks and unlocks, $name, ring of 64M with a condition" "$(median all)" "$(median when)" 1.1
done
