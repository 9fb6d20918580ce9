#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures call paths: a further frame, a path of 15 frames, and a frame whose rule is not in the cache, compared
# with libunwind and glibc in the same process; and a timed sample with a path of 15 frames, beside a signal whose
# handler does nothing. The minimum of ROUNDS (default 3) runs counts.
#
# Then what a path of 15 frames costs in a capture, in bytes and CPU time: with a wait, by libsync_trace, less the same
# wait without a path; and with a sample, by `perf record --call-graph dwarf`, which copies the stack, including
# `perf script`, which finds the frames.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget (in ns), verdict.
set -eu

bench=$GM_BUILD/tests/bench/bench_unwind
[ -e "$bench" ] || { echo "libunwind is not installed" >&2; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPROF_MT_CONFIG LD_PRELOAD
# shellcheck source=tests/bench/timed.sh
. "$GM_TOP/tests/bench/timed.sh"
for _ in $(seq "${ROUNDS:-3}"); do
	"$bench" >>"$dir/all"
done

least()
{
	awk -v name="$1" '$1 == name' "$dir/all" | sort -k 2g | awk 'NR == 1 { print $2 }'
}

# row WHAT PEER PEER_NS OUR_NS BUDGET_NS
row()
{
	awk -v what="$1" -v peer="$2" -v p="$3" -v o="$4" -v b="$5" 'BEGIN {
		printf "%s\t%s\t%s\t%s\tns\t%s\t%s\t%s\n", what, peer, p, o, p == "-" ? p : sprintf("%.3f", o / p), b,
			o <= b ? "pass" : "miss" }'
}

for peer in libunwind glibc; do
	row "a further frame of a call path" "$peer" "$(least $peer-frame)" "$(least ours-frame)" 10
	row "a call path of 15 frames" "$peer" "$(least $peer-15)" "$(least ours-15)" 200
done
row "a frame that is new" "-" - "$(least ours-cold)" 2000

# --- in a capture ---
n_waits=200000 spins=${SPINS:-400000000}
for paths in 0ns off; do
	printf '[sync]\nmode = all\npath_sample = off\npaths = %s\n' $paths >$paths.conf
done
for _ in $(seq "${ROUNDS:-3}"); do
	for paths in 0ns off; do
		rm -rf gprof-mt.data
		timed waits.$paths env LD_PRELOAD="$GM_BUILD/libsync_trace.so" GPROF_MT_CONFIG=$paths.conf "$bench" wait $n_waits
		find gprof-mt.data/*/user -name 'stream_*' -printf '%s\n' | awk '{ n += $1 } END { print n }' >bytes.$paths
		"$GM_BUILD/gprof-mt" report quality >quality 2>&1 && grep -q 'nothing lost' quality || { cat quality >&2; exit 1; }
	done
done

# difference FILE FILE N: of the least values, for each of N
difference()
{
	awk -v a="$(sort -g "$1" | head -n 1)" -v b="$(sort -g "$2" | head -n 1)" -v n="$3" 'BEGIN { printf "%.4g", (a - b) / n }'
}
bytes=$(difference bytes.0ns bytes.off $n_waits)
us=$(awk -v s="$(difference waits.0ns waits.off $n_waits)" 'BEGIN { printf "%.3f", s * 1e6 }')

# recorded WHAT UNIT OURS PEER'S|-
recorded()
{
	awk -v what="$1" -v unit="$2" -v o="$3" -v p="$4" -v name="$peer" 'BEGIN {
		printf "%s\t%s\t%s\t%s\t%s\t%s\t-\t-\n", what, name, p, o, unit, p == "-" ? p : sprintf("%.4f", o / p) }'
}

# What perf needs for a sample; fails where it is not installed or not permitted.
perf_bytes=- perf_us=-
by_perf()
{
	local n
	command -v perf >/dev/null || { peer="perf is not installed"; return; }
	perf record -q -e cpu-clock --call-graph dwarf -o try.data true >perf.err 2>&1 ||
		{ peer="perf record is not permitted"; return; }
	for _ in $(seq "${ROUNDS:-3}"); do
		timed spins.bare "$bench" spin "$spins"
		timed spins.perf perf record -q -e cpu-clock -F 1000 --call-graph dwarf -o perf.data "$bench" spin "$spins"
	done
	timed script perf script --no-inline -F comm,ip,sym -i perf.data
	n=$(awk 'BEGIN { RS = "" } END { print NR }' out)
	perf_bytes=$(awk -v bytes="$(stat -c %s perf.data)" -v n="$n" 'BEGIN { printf "%.0f", bytes / n }')
	perf_us=$(awk -v record="$(difference spins.perf spins.bare "$n")" -v script="$(cat script)" -v n="$n" 'BEGIN {
		printf "%.1f", (record + script / n) * 1e6 }')
}
peer="perf record --call-graph dwarf"
by_perf
recorded "a call path of 15 frames in a capture" bytes "$bytes" "$perf_bytes"
recorded "a call path of 15 frames in a capture, CPU time" us "$us" "$perf_us"

# --- samples -------------------------------------------------------------------------------------------------------
# The kernel's tick permits no 1,000 samples in a second; the program sends itself the timer's signal (sampled.c).
"${CC:-gcc}" -std=gnu17 -D_GNU_SOURCE -O2 -fomit-frame-pointer -I"$GM_TOP/libgmon-mt/include" -o "$dir/sampled" \
	"$GM_TOP/tests/bench/sampled.c"
printf '[sample]\nhz = 100\nstacks = on\n[output]\ndir = %s/data\n' "$dir" >"$dir/conf"
for _ in $(seq "${ROUNDS:-3}"); do
	rm -rf "$dir/data"
	GPROF_MT_CONFIG=$dir/conf LD_PRELOAD=$GM_BUILD/libgmon_mt.so "$dir/sampled" 15 "$dir/data" >>"$dir/all"
done
for caches in hot cold; do
	awk -v caches=$caches -v p="$(least sample-signal)" -v o="$(least sample-$caches)" 'BEGIN {
		printf "a timed sample, path of 15 frames, caches %s\ta signal alone\t%.2f\t%.2f\tus\t%.1f\t20\t%s\n",
			caches, p / 1e3, o / 1e3, o / p, o <= 20000 ? "pass" : "miss"
		if (caches == "cold")
			printf "1,000 such samples in a second\t-\t-\t%.2f\t%%\t-\t2\t%s\n", o / 1e4, o <= 20000 ? "pass" : "miss" }'
done
