#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Compares what `predict occ` predicts for the lock of a red-black tree with the same program without the lock, whose
# operations are optimistic (as in paper 001, figures 3 and 4). A ratio above 1 means that the prediction is too high.
# The least time of ROUNDS (default 5) runs counts, and the median of as many predictions. On a CPU with transactional
# memory, glibc's lock elision is compared, too.
#
# Rows: what, peer name, peer value (measured speedup), our value (predicted), unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-5}
operations=${OPERATIONS:-200000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPROF_MT_CONFIG LD_PRELOAD
gprof_mt=$GM_BUILD/gprof-mt
source=$GM_TOP/tests/bench/occ.c
read -ra flags < <(sed -n 's/^Cflags: //p' "$GM_TOP/libsync-trace/access/access-trace.pc.in")
gcc -O2 -g -o occ "$source" -pthread
gcc -O2 -g "${flags[@]}" -c -o occ.o "$source"
gcc -o occ.accesses occ.o -L"$GM_BUILD" -laccess_trace -lsync_trace "-Wl,-rpath,$GM_BUILD" -pthread

record()
{
	local to=$1
	shift
	rm -rf "$to"
	"$gprof_mt" record -q -o "$to" --set sync.mode=all --set kernel.source=none --set sample.stacks=off -- "$@" >/dev/null
}

# least COMMAND...: the least wall time of some runs.
least()
{
	for _ in $(seq "$rounds"); do "$@"; done | sort -g | head -n 1
}

# row THREADS SIZE INSERTS_PCT PEER MEASURED PREDICTED
row()
{
	awk -v t="$1" -v s="$2" -v i="$3" -v peer="$4" -v m="$5" -v p="$6" 'BEGIN {
		printf "tree of %d keys, %d threads, %d %% inserts: speedup\t%s\t%.3f\t%.3f\tx\t%.3f\t-\t-\n",
			s, t, i, peer, m, p, p / m }'
}

# predicted THREADS SIZE INSERTS_PCT
predicted()
{
	record accesses ./occ.accesses locked "$1" "$2" $((operations / 20)) "$3"
	for _ in $(seq "$rounds"); do
		record timing ./occ locked "$1" "$2" "$operations" "$3"
		"$gprof_mt" predict occ --by-name --format json timing accesses 2>/dev/null |
			python3 -c 'import json, sys; print(json.load(sys.stdin)["occ_total"][0]["best_case_speedup"])'
	done | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

has_rtm()
{
	"$gprof_mt" doctor 2>/dev/null | grep -q 'transactional memory.*usable'
}

# compare THREADS SIZE INSERTS_PCT
compare()
{
	local locked optimistic elided prediction
	locked=$(least ./occ locked "$1" "$2" "$operations" "$3")
	optimistic=$(least ./occ optimistic "$1" "$2" "$operations" "$3")
	prediction=$(predicted "$1" "$2" "$3")
	row "$1" "$2" "$3" "without the lock" "$(echo "$locked $optimistic" | awk '{ print $1 / $2 }')" "$prediction"
	has_rtm || return 0
	elided=$(GLIBC_TUNABLES=glibc.elision.enable=1 least ./occ locked "$1" "$2" "$operations" "$3")
	row "$1" "$2" "$3" "lock elision" "$(echo "$locked $elided" | awk '{ print $1 / $2 }')" "$prediction"
}

for threads in 1 2 4; do
	compare $threads 4096 10
done
for size in 64 65536; do
	compare 2 $size 10
done
for inserts in 0 50; do
	compare 2 4096 $inserts
done
has_rtm || printf 'lock elision\tnot compared: this CPU has no usable RTM\t-\t-\tx\t-\t-\t-\n'
