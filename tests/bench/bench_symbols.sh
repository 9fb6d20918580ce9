#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures how fast addresses are resolved to names and lines in a program with 70 MB of debug
# information: 1000 addresses from all parts of its code, compared with binutils, elfutils and (if
# installed) LLVM; and a report with 1200 call sites, without and with a symbol cache.  The minimum CPU
# time of ROUNDS (default 5) runs counts; elfutils is slow and runs once.
#
# The program is built once per build folder: one unit is compiled, and assembled under UNITS names
# (default 20).
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-5}
units=${UNITS:-20} # at most 675
letters=({a..z}{a..z})
source=$GM_TOP/tests/bench/symbols/unit.cc
made=$GM_BUILD/bench_symbols
name_address=$GM_BUILD/tests/unit/name_address
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export XDG_CACHE_HOME=$dir/cache
. "$GM_TOP/tests/bench/timed.sh"
unset GMON_OUT_PREFIX GPROF_MT_CONFIG DEBUGINFOD_URLS

make_program()
{
	local stamp i name calls=
	stamp="$(cat "$0" "$source" | cksum) $GM_BUILD $units"
	[ "$(cat "$made/stamp" 2>/dev/null)" != "$stamp" ] || return 0
	rm -rf "$made" && mkdir "$made"
	(
		cd "$made"
		g++ -O2 -g -pg -pthread -DUNIT=unit_zz -DPER_UNIT=30 -S "$source" -o unit.s
		for i in $(seq "$units"); do
			name=unit_${letters[i - 1]}
			sed "s/unit_zz/$name/g" unit.s | as -o "$name.o" -
			echo "long run_$name(long);"
			calls="$calls n = run_$name(n);"
		done >main.cc
		echo "int main() { long n = 1; $calls return n == 0; }" >>main.cc
		g++ -O2 -g -pg -pthread main.cc ./*.o -o program -L"$GM_BUILD" -lgmon_mt -Wl,-rpath,"$GM_BUILD"
		rm -f ./*.o unit.s
		echo "$stamp" >stamp
	)
}

least()
{
	sort -g "$1" | head -n 1
}

# row WHAT PEER PEER_S OUR_S BUDGET|-
row()
{
	awk -v what="$1" -v peer="$2" -v p="$3" -v o="$4" -v b="$5" 'BEGIN {
		printf "%s\t%s\t%.3f\t%.3f\ts\t%.3f\t%s\t%s\n", what, peer, p, o, o / p, b,
			b == "-" ? b : o / p <= b ? "pass" : "miss" }'
}

make_program
program=$made/program
megabytes=$(readelf -SW "$program" | sed -nE 's/.* \.debug_[a-z_]+ +PROGBITS +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) .*/0x\1/p' |
	{ sum=0; while read -r size; do sum=$((sum + size)); done; echo $((sum / 1000000)); })

# Takes an address after a third of each of 1000 functions.
nm -S --defined-only "$program" | python3 -c 'import sys
functions = sorted((int(w[0], 16), int(w[1], 16)) for w in map(str.split, sys.stdin) if len(w) == 4 and w[2] in "tTwW")
wanted = functions[::max(1, len(functions) // 1000)][:1000]
for start, size in wanted:
    print("%x" % (start + size // 3))' >addresses
while read -r address; do
	printf 'i%x\n' $((16#$address + 1)) # a return address stands for the call before it
done <addresses >asked
n=$(wc -l <addresses)

named()
{
	"$name_address" "$program" "$build_id" 0 - <asked
}
theirs() { addr2line -Cfie "$program" <addresses; }
elfutils() { eu-addr2line -C -f -i -e "$program" <addresses; }
llvm() { sed 's/^/0x/' addresses | llvm-symbolizer --obj="$program" --inlines; }

build_id=$(readelf -n "$program" | sed -n 's/.*Build ID: //p')
peers=theirs
! command -v llvm-symbolizer >/dev/null || peers="$peers llvm"
for _ in $(seq "$rounds"); do
	for peer in $peers; do
		timed "$peer" "$peer"
	done
	rm -rf cache
	timed cold named
	timed warm named
done
timed elfutils elfutils
what="$n addresses of $megabytes MB of debug information"
row "$what" "addr2line -i" "$(least theirs)" "$(least cold)" 1
row "$what" "eu-addr2line -i" "$(least elfutils)" "$(least cold)" 1
[ ! -e llvm ] || row "$what" "llvm-symbolizer" "$(least llvm)" "$(least cold)" -
row "the same, from the cache" "addr2line -i" "$(least theirs)" "$(least warm)" -

"$GM_BUILD/gprof-mt" record -q -o capture "$program"
for _ in $(seq "$rounds"); do
	timed no_cache "$GM_BUILD/gprof-mt" history -i capture --no-cache
	rm -rf cache
	timed first "$GM_BUILD/gprof-mt" history -i capture
	timed again "$GM_BUILD/gprof-mt" history -i capture
done
sites=$((units * 30 * 2))
row "history, $sites call sites in $megabytes MB" "limit of 1 s" 1 "$(least first)" 1
row "the same, from the cache" "limit of 0.1 s" 0.1 "$(least again)" 1
row "the same, from the cache" "without a cache" "$(least no_cache)" "$(least again)" -
