#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the cost of counting a call: nanoseconds beyond the same program without profiling, for our
# library, for glibc's own mcount, for an mcount that only returns (the cost of -pg alone, with an mcount
# in a shared library) and for `uftrace record`; and the calls that our library and glibc's lose.
#
# The program calls three tiny functions in a loop, in 1 and in 2 threads, 120 million calls per thread;
# a second one has 10,000 arcs in random order.  Time is the threads' CPU time.  The runs of all peers
# alternate; the minimum of ROUNDS (default 5) counts, because other load on the machine can only add
# time.  uftrace writes 32 bytes per call and therefore gets only 1.2 million calls per thread.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-5}
loops=${LOOPS:-40000000}
source=$GM_TOP/tests/bench/count
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GMON_OUT_PREFIX GPROF_MT_CONFIG
CC=${CC:-gcc}

$CC -shared -o empty.so "$source/empty.S"
for program in three wide; do
	$CC -std=gnu17 -O2 -pthread -o $program.plain "$source/$program.c"
	$CC -std=gnu17 -O2 -pg -pthread -o $program.glibc "$source/$program.c"
	$CC -std=gnu17 -O2 -pg -pthread -o $program.empty "$source/$program.c" ./empty.so
	$CC -std=gnu17 -O2 -pg -pthread -o $program.archive "$source/$program.c" "$GM_BUILD/libgmon_mt.a"
	$CC -std=gnu17 -O2 -pg -pthread -o $program.ours "$source/$program.c" \
		-L"$GM_BUILD" -lgmon_mt -Wl,-rpath,"$GM_BUILD"
done

# shellcheck source=tests/bench/count/common.sh
. "$source/common.sh"

# lost PROGRAM CALLS: prints how many calls of the three functions, CALLS of each, gmon.out lacks
lost()
{
	gprof -b -p "$1" gmon.out 2>/dev/null | awk -v wanted="$2" '
		$NF ~ /^(add|flip|scale)$/ { n += $4 } END { print 3 * wanted - n }'
}

for threads in 1 2; do
	: >lost.ours
	: >lost.glibc
	: >lost.archive
	for _ in $(seq "$rounds"); do
		for peer in plain empty glibc ours archive; do
			rm -rf gmon.out gprof-mt.data
			./three.$peer $threads "$loops" >out
			read -r ns calls <out
			least $peer.$threads "$ns"
			[ $peer = plain ] || [ $peer = empty ] || lost three.$peer "$calls" >>lost.$peer
		done
	done
	what="count a call, $threads thread$([ $threads = 1 ] || echo s)"
	ours=$(over "$(cat ours.$threads)" "$(cat plain.$threads)")
	row "$what" "glibc mcount" "$(over "$(cat glibc.$threads)" "$(cat plain.$threads)")" "$ours" 2
	row "$what" "an empty mcount" "$(over "$(cat empty.$threads)" "$(cat plain.$threads)")" "$ours" 2
	if command -v uftrace >/dev/null; then
		for _ in 1 2 3; do
			rm -rf uftrace.data
			uftrace record -d uftrace.data --no-libcall ./three.glibc $threads 400000 \
				>out 2>/dev/null
			read -r ns calls <out
			least uftrace.$threads "$ns"
		done
		row "$what" "uftrace record" "$(over "$(cat uftrace.$threads)" "$(cat plain.$threads)")" \
			"$ours" 2
	else
		row "$what" "uftrace (not installed)" - "$ours" 2
	fi
	archive=$(over "$(cat archive.$threads)" "$(cat plain.$threads)")
	row "$what, libgmon_mt.a" "libgmon_mt.so" "$ours" "$archive" 2
	ours=$(sort -n lost.ours lost.archive | tail -n 1)
	printf 'calls lost of %d x %d, %s\t%s\t%s\t%s\tcalls\t-\t0\t%s\n' "$threads" $((3 * loops)) \
		"worst of $rounds" "glibc mcount" "$(sort -n lost.glibc | tail -n 1)" "$ours" \
		"$([ "$ours" = 0 ] && echo pass || echo miss)"
done

for _ in $(seq "$rounds"); do
	for peer in plain empty glibc ours archive; do
		rm -rf gmon.out gprof-mt.data
		least wide.$peer.ns "$(./wide.$peer 5000000 2>>wide.$peer.err)"
	done
done
what="count a call, 10,000 arcs in random order"
ours=$(over "$(cat wide.ours.ns)" "$(cat wide.plain.ns)")
glibc="glibc mcount"
[ ! -s wide.glibc.err ] || glibc="$glibc (gives up counting)"
row "$what" "$glibc" "$(over "$(cat wide.glibc.ns)" "$(cat wide.plain.ns)")" "$ours" 8
row "$what" "an empty mcount" "$(over "$(cat wide.empty.ns)" "$(cat wide.plain.ns)")" "$ours" 8
