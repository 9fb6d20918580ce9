#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the cost of profiling the four examples, at both of the paper's sizes: built without -pg,
# against built with -pg and run under `record --profile full-sched`.  Runs alternate, so that a change
# of the machine's speed affects both; the medians of ROUNDS (default 7) are compared.  The budget is for
# wall time that includes the work of `record` before and after the program, since a user waits for
# all of it.  Further rows give user + sys, which other load disturbs less, and the wall time of the
# program alone, from its exec to its end, as the capture states it.  The spread (half the distance
# between the quartiles, relative to the median) shows how much of the ratio is noise.  Captures are
# kept to the end: file systems are slow to create files just after many were deleted.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-7}
budget=1.05
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export TIMEFORMAT='%R %U %S'
unset GPROF_MT_CONFIG

# timed FILE DATA COMMAND...: appends wall time, user + sys, and wall time of the program alone, in seconds.
timed()
{
	local file=$1 data=$2
	shift 2
	{ time "$@" >out 2>err; } 2>seconds || { cat err >&2; exit 1; }
	[ -z "$data" ] || sed -n 's/^ *"\(start\|end\)_ns" : \([0-9]*\).*/\2/p' "$data/info.json" >>seconds
	awk 'NR == 1 { wall = alone = $1; cpu = $2 + $3 } NR == 2 { start = $1 }
		NR == 3 { alone = ($1 - start) / 1e9 }
		END { print wall, cpu, alone }' seconds >>"$file"
}

# median FILE COLUMN: prints the median and the spread in percent.
median()
{
	sort -n -k "$2,$2" "$1" | awk -v c="$2" '{ v[NR] = $c }
		function q(p,   x) { x = 1 + (NR - 1) * p; i = int(x)
			return i == NR ? v[NR] : v[i] + (x - i) * (v[i + 1] - v[i]) }
		END { printf "%.4f %.1f\n", q(0.5), 100 * (q(0.75) - q(0.25)) / 2 / q(0.5) }'
}

bench()
{
	local what="$1 $2" name=$1 size=$2 round plain_s plain_spread our_s our_spread
	local plain=$GM_BUILD/examples/plain/$name profiled=$GM_BUILD/examples/$name

	rm -f plain ours
	for round in $(seq "$rounds"); do
		timed plain "" "$plain" "$size"
		mv out expected
		timed ours "data.$round" "$GM_BUILD/gprof-mt" record -q -o "data.$round" \
			--profile full-sched -- "$profiled" "$size"
		cmp -s out expected || { echo "$what: expected the same output with and without record: $(cmp out expected)" >&2; exit 1; }
	done
	mkdir -p "kept/$name.$size"
	mv data.* "kept/$name.$size"
	for column in 1:wall 2:user+sys '3:wall of the program alone'; do
		read -r plain_s plain_spread < <(median plain ${column%:*})
		read -r our_s our_spread < <(median ours ${column%:*})
		awk -v what="$what ${column#*:}" -v p="$plain_s" -v o="$our_s" -v b=$budget \
			-v ps="$plain_spread" -v os="$our_spread" -v column=${column%:*} 'BEGIN {
			verdict = column != 1 ? "-" : o / p <= b ? "pass" : "miss"
			printf "%s (spread %s %% and %s %%)\tnot profiled\t%.3f\t%.3f\ts\t%.3f\t%s\t%s\n",
				what, ps, os, p, o, o / p, column == 1 ? b : "-", verdict }'
	done
}

for run in 'philosophers 10' 'philosophers 100' 'client_server 30' 'client_server 80' \
	'crossroad 10' 'crossroad 1000' 'farm 4' 'farm 32'; do
	# shellcheck disable=SC2086 # name and size
	bench $run
done
