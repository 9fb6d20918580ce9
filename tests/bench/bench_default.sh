#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the CPU time of programs with libsync_trace preloaded in its default mode (sync.mode = auto).
# Runs alternate; the minimum of ROUNDS (default 5) counts.  For comparison, the programs also run with
# wrappers that do nothing, and with wrappers that read the TSC once per lock and unlock, the least that
# recording the begin of each hold can cost.  Programs of the distribution that are not installed are
# left out.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-5}
budget=1.15
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export TIMEFORMAT='%U %S' CC=${CC:-gcc}
unset GPROF_MT_CONFIG LD_PRELOAD
$CC -std=gnu17 -O2 -pthread -o default "$GM_TOP/tests/bench/default.c" -lm
$CC -std=gnu17 -O2 -shared -fPIC -o wrapped.so "$GM_TOP/tests/bench/wrapped.c"
$CC -std=gnu17 -O2 -DCLOCK -shared -fPIC -o clock.so "$GM_TOP/tests/bench/wrapped.c"
printf '[sync]\nmode = contended\n' >waits.conf
cat "$GM_BUILD"/*.so >input
awk 'BEGIN { print "create table t(a integer primary key, b text);\nbegin;"
	for (i = 0; i < 250000; i++) printf "insert into t values(%d, \047%0" i % 40 + 1 "d\047);\n", i, i
	print "commit;\nselect sum(length(b)) from t;" }' >db.sql

# timed WAY PRELOAD CONFIG PROGRAM ARGUMENT...
timed()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	{ time env LD_PRELOAD="$2" GPROF_MT_CONFIG="$3" "${@:4}" >out 2>err; } 2>>"$1" || { cat err >&2; exit 1; }
}

least()
{
	awk '{ print $1 + $2 }' "$1" | sort -g | head -n 1
}

# row WHAT PEER_S OUR_S BUDGET|-
row()
{
	awk -v what="$1" -v p="$2" -v o="$3" -v b="$4" 'BEGIN {
		printf "%s\tnot recorded\t%.3f\t%.3f\ts\t%.3f\t%s\t%s\n", what, p, o, o / p, b,
			b == "-" ? b : o / p <= b ? "pass" : "miss" }'
}

# bench WHAT PROGRAM ARGUMENT...
bench()
{
	local what=$1 bare
	shift
	command -v "$1" >/dev/null || { printf '%s\t%s is not installed\t-\t-\ts\t-\t-\t-\n' "$what" "$1"; return; }
	rm -f bare default.s waits wrapped clock
	for _ in $(seq "$rounds"); do
		timed bare "" "" "$@"
		timed default.s "$GM_BUILD/libsync_trace.so" "" "$@"
		timed waits "$GM_BUILD/libsync_trace.so" "$dir/waits.conf" "$@"
		timed wrapped "$dir/wrapped.so" "" "$@"
		timed clock "$dir/clock.so" "" "$@"
	done
	bare=$(least bare)
	row "$what, default" "$bare" "$(least default.s)" $budget
	row "$what, waits only" "$bare" "$(least waits)" -
	row "$what, wrappers that do nothing" "$bare" "$(least wrapped)" -
	row "$what, one reading of the TSC" "$bare" "$(least clock)" -
}

bench "an allocator with one mutex, 1 thread" ./default arena 1 8000000
bench "an allocator with one mutex, 2 threads" ./default arena 2 4000000
bench "small tiles of a computation, 2 threads" ./default tiles 2 4000000
bench "sqlite3 in memory, 250,000 rows" sqlite3 :memory: ".read db.sql"
bench "pbzip2 -p2" pbzip2 -p2 -k -c input
bench "xz -T2 -1" xz -T2 -1 -c input
bench "zstd -T2 -9" zstd -T2 -9 -q -c input
