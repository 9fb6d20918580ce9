#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Compares what `predict occ` predicts for the lock of a red-black tree with the same program without the lock, whose
# operations are optimistic (as in paper 001, figures 3 and 4). A ratio above 1 means that the prediction is too high.
# The median time of ROUNDS (default 5) runs counts, since threads that happen to run one after the other are fast, and
# the median of as many predictions. On a CPU with transactional memory, glibc's lock elision is compared, too. A second
# row for each program has the prediction as the paper defines it, without the cost of contended releases. The last rows
# are the errors of all predictions: the mean factor by which they are off, either way.
#
# RUN, if set, is put before each program, for example RUN='chrt -f 1' on a machine that has other work.
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
	# shellcheck disable=SC2086 # RUN is words
	${RUN:-} "$gprof_mt" record -q -o "$to" --set sync.mode=all --set sample.stacks=off -- "$@" >/dev/null
}

# median: of the numbers on standard input.
median()
{
	sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# time_of COMMAND...: the median wall time of some runs.
time_of()
{
	# shellcheck disable=SC2086 # RUN is words
	for _ in $(seq "$rounds"); do ${RUN:-} "$@"; done | median
}

# row WHAT THREADS SIZE INSERTS_PCT PEER MEASURED PREDICTED
row()
{
	awk -v what="$1" -v t="$2" -v s="$3" -v i="$4" -v peer="$5" -v m="$6" -v p="$7" 'BEGIN {
		printf "tree of %d keys, %d threads, %d %% inserts: %s\t%s\t%.3f\t%.3f\tx\t%.3f\t-\t-\n",
			s, t, i, what, peer, m, p, p / m }'
}

# rows THREADS SIZE INSERTS_PCT PEER MEASURED PREDICTED BY_THE_PAPER
rows()
{
	row speedup "${@:1:6}" | tee -a rows
	row "speedup, by the paper" "${@:1:5}" "$7" | tee -a paper.rows
}

# error WHAT FILE: the geometric mean of the factors by which its rows are off.
error()
{
	awk -F '\t' -v what="$1" '{ e = log($6); sum += e < 0 ? -e : e; n++ }
		END { printf "%s\t-\t-\t%.3f\tx\t-\t-\t-\n", what, exp(sum / n) }' "$2"
}

# predicted THREADS SIZE INSERTS_PCT: prints the median prediction, and that by the paper.
predicted()
{
	record accesses ./occ.accesses locked "$1" "$2" $((operations / 20)) "$3"
	for _ in $(seq "$rounds"); do
		record timing ./occ locked "$1" "$2" "$operations" "$3"
		"$gprof_mt" predict occ --by-name --format json timing accesses 2>/dev/null |
			python3 -c '
import json, sys
total = json.load(sys.stdin)["occ_total"][0]
print(total["best_case_speedup"], total["paper_best_case_speedup"])'
	done >predictions
	cut -d ' ' -f 1 predictions | median
	cut -d ' ' -f 2 predictions | median
}

has_rtm()
{
	"$gprof_mt" doctor 2>/dev/null | grep -q 'transactional memory.*usable'
}

# compare THREADS SIZE INSERTS_PCT
compare()
{
	local locked optimistic elided predictions
	locked=$(time_of ./occ locked "$1" "$2" "$operations" "$3")
	optimistic=$(time_of ./occ optimistic "$1" "$2" "$operations" "$3")
	mapfile -t predictions < <(predicted "$1" "$2" "$3")
	rows "$1" "$2" "$3" "without the lock" "$(echo "$locked $optimistic" | awk '{ print $1 / $2 }')" "${predictions[@]}"
	has_rtm || return 0
	elided=$(GLIBC_TUNABLES=glibc.elision.enable=1 time_of ./occ locked "$1" "$2" "$operations" "$3")
	row "speedup" "$1" "$2" "$3" "lock elision" "$(echo "$locked $elided" | awk '{ print $1 / $2 }')" "${predictions[0]}"
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
error "error of the predictions, a factor" rows
error "error of the predictions, by the paper" paper.rows
has_rtm || printf 'lock elision\tnot compared: this CPU has no usable RTM\t-\t-\tx\t-\t-\t-\n'
