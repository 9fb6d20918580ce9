#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the cost of recording a call, compared with uftrace: nanoseconds beyond the same program
# without profiling, for an entry alone (-pg) and for an entry and its exit (-mfentry
# -minstrument-return=call; uftrace records both), with large buffers and with buffers of 500 records;
# and the bytes per record.  An entry and its exit cannot cost less than two readings of the TSC,
# which are measured in the same rounds.
#
# The program calls three tiny functions in a loop, in 1 and in 2 threads.  Time is the threads' CPU
# time, including the kernel's work for their pages.  The runs of all peers alternate; the minimum of
# ROUNDS (default 5) counts.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-5}
loops=${LOOPS:-2000000}
source=$GM_TOP/tests/bench/count
dir=$(mktemp -d "${BENCH_DIR:-$GM_BUILD}/bench_history.XXXXXX") # on a disk, not on a tmpfs
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GMON_OUT_PREFIX GPROF_MT_CONFIG
CC=${CC:-gcc}
# shellcheck source=tests/bench/count/common.sh
. "$source/common.sh"

link="-L$GM_BUILD -lgmon_mt -Wl,-rpath,$GM_BUILD"
$CC -std=gnu17 -O2 -pthread -o plain "$source/three.c"
$CC -std=gnu17 -O2 -pthread -pg -o uftrace "$source/three.c"
# shellcheck disable=SC2086 # several words
$CC -std=gnu17 -O2 -pthread -pg -o entry "$source/three.c" $link
# shellcheck disable=SC2086 # several words
$CC -std=gnu17 -O2 -pthread -pg -mfentry -minstrument-return=call -o pair "$source/three.c" $link
cp pair pair-500
$CC -std=gnu17 -O2 -o readings "$source/readings.c"

# bytes RECORDS: prints the average bytes per record of the capture, which has RECORDS records
bytes()
{
	python3 - "$1" gprof-mt.data/*/calls-history/stream_* <<-'END'
	import struct, sys
	total = 0
	for path in sys.argv[2:]:
	    data, at = open(path, "rb").read(), 0
	    while at + 72 <= len(data):
	        content, packet = struct.unpack_from("<QQ", data, at + 32)
	        total, at = total + content // 8, at + packet // 8
	print("%.3f" % (total / int(sys.argv[1])))
	END
}

for threads in 1 2; do
	peers="plain entry pair pair-500"
	! command -v uftrace >/dev/null || peers="$peers uftrace"
	for _ in $(seq "$rounds"); do
		for peer in $peers; do
			rm -rf gmon.out gprof-mt.data uftrace.data
			buffer=4M command="./$peer $threads $loops"
			[ $peer != pair-500 ] || buffer=4K
			[ $peer != uftrace ] ||
				command="uftrace record -d uftrace.data --no-libcall ./uftrace $threads 400000"
			printf '[calls]\nmode = history\nbuffer = %s\n' $buffer >gprof-mt.conf
			$command >out 2>/dev/null
			read -r ns _ <out
			least $peer.$threads.ns "$ns"
			[ $peer != uftrace ] || cat uftrace.data/*.dat | wc -c >uftrace.$threads.bytes
			[ $peer != pair ] || least readings.ns "$(./readings 2000000)"
			[ $peer != pair ] || bytes $((6 * loops * threads)) >bytes.$threads
		done
	done
	many="$threads thread$([ $threads = 1 ] || echo s)"
	name="uftrace record" theirs=-
	[ -e uftrace.$threads.ns ] || name="uftrace (not installed)"
	[ ! -e uftrace.$threads.ns ] ||
		theirs=$(over "$(cat uftrace.$threads.ns)" "$(cat plain.$threads.ns)")
	row "record an entry, $many" "$name" "$theirs" \
		"$(over "$(cat entry.$threads.ns)" "$(cat plain.$threads.ns)")" 15
	row "record an entry and its exit, $many" "$name" "$theirs" \
		"$(over "$(cat pair.$threads.ns)" "$(cat plain.$threads.ns)")" 30
	row "record an entry and its exit, $many" "two readings of the TSC" "$(cat readings.ns)" \
		"$(over "$(cat pair.$threads.ns)" "$(cat plain.$threads.ns)")" 30
	row "the same, buffers of 500 records, $many" "$name" "$theirs" \
		"$(over "$(cat pair-500.$threads.ns)" "$(cat plain.$threads.ns)")" 15
	theirs=-
	[ ! -e uftrace.$threads.bytes ] || theirs=$(cat uftrace.$threads.bytes)
	awk -v many="$many" -v name="$name" -v p="$theirs" -v n=$((6 * 400000 * threads)) \
		-v o="$(cat bytes.$threads)" 'BEGIN {
		printf "bytes of a record, %s\t%s\t%s\t%.2f\tbytes\t%s\t8\t%s\n", many, name,
			p == "-" ? p : sprintf("%.2f", p / n), o, p == "-" ? p : sprintf("%.3f", o / p * n),
			sprintf("%.2f", o) + 0 <= 8 ? "pass" : "miss" }'
done
