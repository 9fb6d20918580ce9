#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Sections of `report` on memory accesses: CPU time per critical section and peak memory, on captures of N (default
# 1,000,000) sections of two and eight threads, with few different sets of accesses, and with hardly any that repeats;
# and on a quarter of the former. Each has to handle 1 M sections/s: 1,000 ns more than `report sync` takes; `ulcp`, if
# sets repeat. With few sets the memory has to be flat; else it is that of the lines that are accessed.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

n=${N:-1000000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPROF_MT_CONFIG LD_PRELOAD
gprof_mt=$GM_BUILD/gprof-mt
read -ra flags < <(sed -n 's/^Cflags: //p' "$GM_TOP/libsync-trace/access/access-trace.pc.in")
gcc -O2 -g "${flags[@]}" -c -o ulcp.o "$GM_TOP/tests/bench/ulcp.c"
gcc -o ulcp ulcp.o -L"$GM_BUILD" -laccess_trace -lsync_trace "-Wl,-rpath,$GM_BUILD" -pthread

# cost DIR SECTION: prints operations, CPU time in s, peak memory in MiB.
cost()
{
	python3 "$GM_TOP/tests/bench/read_cost.py" "$gprof_mt" "$1" report "$2"
}

# row SECTION HOW THREADS SYNC: for SECTION of capture1, of which `report sync` has the cost SYNC, and capture4.
row()
{
	awk -v section="$1" -v how="$2" -v t="$3" -v n="$n" -v base="$4" -v all="$(cost capture1 "$1")" \
		-v few="$(cost capture4 "$1")" 'BEGIN {
		split(base, b); split(all, a); split(few, f)
		ns = (a[2] - b[2]) / n * 1e9
		budget = how == "few" || section != "ulcp" ? 1000 : "-"
		printf "%s, %s sets, %d threads\treport sync\t%.0f\t%.0f\tns/section\t%.3f\t%s\t%s\n", section,
			how, t, b[2] / n * 1e9, ns, ns * n / 1e9 / b[2], budget, budget == "-" ? "-" : ns <= budget ? "pass" : "miss"
		budget = how == "few" ? 1.2 : "-"
		printf "peak memory of it\ta quarter of the sections\t%d\t%d\tMiB\t%.3f\t%s\t%s\n",
			f[3], a[3], a[3] / f[3], budget, budget == "-" ? "-" : a[3] <= f[3] * budget ? "pass" : "miss" }'
}

# rows HOW THREADS SECTION...
rows()
{
	local how=$1 threads=$2 part base section
	shift 2
	for part in 1 4; do
		"$gprof_mt" record -q -o "capture$part" --set sync.mode=all --set kernel.source=none \
			--set sample.stacks=off -- ./ulcp "$how" "$threads" $((n / part))
	done
	base=$(cost capture1 sync)
	for section; do
		row "$section" "$how" "$threads" "$base"
	done
	rm -rf capture1 capture4
}

rows few 2 ulcp accesses conflicts
rows few 8 ulcp
rows many 2 ulcp accesses conflicts
