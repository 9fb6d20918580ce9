#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the cost of counting calls in real programs (tests/apps): the wall time of each program
# built without -pg; built with -pg and glibc's runtime; the same with libgmon_mt.so preloaded; linked
# with libgmon_mt.so; and with a preloaded mcount that only returns, which shows the cost of -pg alone.
# The runs alternate.  The minimum of ROUNDS (default 5) counts, because other load on the machine can
# only add time.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-5}
budget=1.05
apps=$GM_BUILD/apps
tests=$GM_TOP/tests/apps
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export TIMEFORMAT=%R CC=${CC:-gcc} PYTHONDONTWRITEBYTECODE=1
unset GPROF_MT_CONFIG LD_PRELOAD
$CC -shared -o empty.so "$GM_TOP/tests/bench/count/empty.S"

mkdir -p "$apps"
for app in xz:xz-utils zstd:libzstd leveldb:leveldb libuv:libuv1; do
	"$tests/fetch-source" "${app#*:}" "$apps/${app%:*}" >&2
	"$tests/build" "${app%:*}" "$apps/${app%:*}" "$GM_BUILD" >&2
done
[ -e "$apps/input" ] || "$tests/make-input" "$apps/input" 64

# timed WAY PROGRAM ARGUMENT...: appends the program's seconds to the file WAY.  Profiles go to a new
# folder each time, so that no run finds the profiles of an earlier one.
timed()
{
	local way=$1 preload=
	case $way in
	preloaded) preload=$GM_BUILD/libgmon_mt.so ;;
	empty) preload=$dir/empty.so ;;
	esac
	rm -rf "$dir/work"
	mkdir "$dir/work"
	printf '[output]\ndir = %s/work/capture\nexisting = join\n' "$dir" >"$dir/work/conf"
	{ time env LD_PRELOAD="$preload" GPROF_MT_CONFIG="$dir/work/conf" UV_RUN_AS_ROOT=1 \
		GMON_OUT_PREFIX="$dir/work/gmon" "$2" "${@:3}" >out 2>err; } 2>>"$dir/$way" ||
		{ cat err >&2; exit 1; }
}

# row WHAT PEER PEER_S OUR_S BUDGET|-
row()
{
	awk -v what="$1" -v peer="$2" -v p="$3" -v o="$4" -v b="$5" 'BEGIN {
		printf "%s\t%s\t%.3f\t%.3f\ts\t%.3f\t%s\t%s\n", what, peer, p, o, o / p, b,
			b == "-" ? b : o / p <= b ? "pass" : "miss" }'
}

least()
{
	sort -g "$1" | head -n 1
}

# bench WHAT APP PROGRAM ARGUMENT...
bench()
{
	local what=$1 app=$2 program=$3 plain
	shift 3
	rm -f unprofiled glibc preloaded linked empty
	for _ in $(seq "$rounds"); do
		timed unprofiled "$apps/$app/plain/$program" "$@"
		timed glibc "$apps/$app/glibc/$program" "$@"
		timed empty "$apps/$app/glibc/$program" "$@"
		timed preloaded "$apps/$app/glibc/$program" "$@"
		timed linked "$apps/$app/linked/$program" "$@"
	done
	plain=$(least unprofiled)
	row "$what, linked" "not profiled" "$plain" "$(least linked)" $budget
	row "$what, preloaded" "not profiled" "$plain" "$(least preloaded)" $budget
	row "$what, linked" "glibc's runtime" "$(least glibc)" "$(least linked)" -
	row "$what, linked" "an empty mcount" "$(least empty)" "$(least linked)" -
	row "$what, glibc's runtime" "not profiled" "$plain" "$(least glibc)" -
}

bench "xz -T4 -1, 64 MiB" xz src/xz/xz -T4 -1 -c "$apps/input"
bench "zstd -T4 -9, 64 MiB" zstd zstd -T4 -9 -q -c "$apps/input"
bench "LevelDB's db_bench, 2 threads" leveldb db_bench --db=work/db --num=100000 --threads=2 \
	--benchmarks=fillrandom,readrandom,readseq
bench "libuv's million_timers" libuv uv_run_benchmarks_a million_timers million_timers
