#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the costs of counting other than the time per call: start and end of a program that does nothing and of a
# thread with one call, the memory of a thread with fewer than 100 arcs, and the instructions per call, which do not
# depend on other load.  All values are differences to the same program without -pg.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

runs=${RUNS:-100}
source=$GM_TOP/tests/bench/count
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GMON_OUT_PREFIX GPROF_MT_CONFIG
CC=${CC:-gcc}

echo 'int main(void) { return 0; }' >nothing.c
cp "$source/three.c" "$source/crowd.c" "$source/starts.c" .
$CC -shared -o empty.so "$source/empty.S"
for program in nothing three crowd starts; do
	$CC -std=gnu17 -O2 -pthread -o $program.plain $program.c
	$CC -std=gnu17 -O2 -pg -pthread -o $program.glibc $program.c
	$CC -std=gnu17 -O2 -pg -pthread -o $program.empty $program.c ./empty.so
	$CC -std=gnu17 -O2 -pg -pthread -o $program.archive $program.c "$GM_BUILD/libgmon_mt.a"
	$CC -std=gnu17 -O2 -pg -pthread -o $program.ours $program.c \
		-L"$GM_BUILD" -lgmon_mt -Wl,-rpath,"$GM_BUILD"
done

# row WHAT PEER PEER_VALUE OUR_VALUE UNIT BUDGET; "-" stands for a missing value
row()
{
	awk -v what="$1" -v peer="$2" -v p="$3" -v o="$4" -v unit="$5" -v b="$6" 'BEGIN {
		printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", what, peer, p, o, unit,
			p == "-" || o == "-" || p <= 0 ? "-" : sprintf("%.3f", o / p), b,
			o == "-" || b == "-" ? "-" : o <= b ? "pass" : "miss" }'
}

# over PEER: prints how much longer PEER's start and end take than without profiling, in ms of wall time
over()
{
	awk -v peer="$1" '{ ms[$1] = $2 } END { printf "%.3f", ms[peer] - ms["plain"] }' times.txt
}

python3 "$source/spawn.py" "$runs" plain=./nothing.plain glibc=./nothing.glibc ours=./nothing.ours \
	archive=./nothing.archive "preloaded=LD_PRELOAD=$GM_BUILD/libgmon_mt.so ./nothing.glibc" >times.txt
row "start and end of a program" "glibc mcount" "$(over glibc)" "$(over ours)" ms 1
row "start and end, libgmon_mt.a" "glibc mcount" "$(over glibc)" "$(over archive)" ms 1
row "start and end, preloaded" "glibc mcount" "$(over glibc)" "$(over preloaded)" ms 1

# starts PEER AT_ONCE: prints the ms per thread of 400 threads, the minimum of seven runs.  Each run has its
# own directory, because creating files is slower in a directory from which files were removed
starts()
{
	local i
	for i in 1 2 3 4 5 6 7; do
		mkdir "starts.$1.$2.$i"
		(cd "starts.$1.$2.$i" && "../starts.$1" 400 "$2")
	done | sort -n | head -1
}
for at_once in 1 100; do
	plain=$(starts plain $at_once)
	for peer in glibc ours; do
		starts $peer $at_once | awk -v p="$plain" '{ printf "%.4f", $1 - p }' >starts.$peer.ms
	done
	row "a thread, $at_once at once" "glibc mcount" "$(cat starts.glibc.ms)" "$(cat starts.ours.ms)" ms 0.1
done

# resident PEER: prints the KiB that each of 400 more threads adds to a process with one thread
resident()
{
	local one many
	rm -rf gmon.out gprof-mt.data
	one=$(./crowd."$1" 1)
	rm -rf gmon.out gprof-mt.data
	many=$(./crowd."$1" 401)
	awk -v a="$one" -v b="$many" 'BEGIN { printf "%.2f", (b - a) / 400 }'
}

minus()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a - b }'
}
plain=$(resident plain)
row "memory of a thread with 96 arcs" "glibc mcount" "$(minus "$(resident glibc)" "$plain")" \
	"$(minus "$(resident ours)" "$plain")" KiB 32

# instructions PEER: prints the instructions per call, from the difference that 30,000 more calls make
instructions()
{
	local rounds
	for rounds in 1000 11000; do
		rm -rf gmon.out gprof-mt.data
		valgrind --tool=callgrind --callgrind-out-file=/dev/null ./three."$1" 1 $rounds 2>&1 |
			awk '/Collected/ { print $NF }'
	done | awk '{ n[NR] = $1 } END { printf "%.2f", (n[2] - n[1]) / 30000 }'
}

what="instructions of a call"
if valgrind --version >/dev/null 2>&1; then
	plain=$(instructions plain)
	ours=$(minus "$(instructions ours)" "$plain")
	row "$what" "glibc mcount" "$(minus "$(instructions glibc)" "$plain")" "$ours" instructions 22
	row "$what" "an empty mcount" "$(minus "$(instructions empty)" "$plain")" "$ours" instructions 22
else
	row "$what" "valgrind is not installed" - - instructions 22
fi
