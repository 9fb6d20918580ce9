#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the cost of the LTTng-UST sink beyond the events themselves: lock and unlock with
# sync.sink = lttng, compared with a program that writes the same two events itself, and with LTTng-UST's
# own pthread wrapper.  The session overwrites its buffers: no thread waits for the disk, and no event
# is discarded.  Rounds alternate; the minimum of ROUNDS (default 9) counts.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-9}
n=300000
wrapper=liblttng-ust-pthread-wrapper.so
dir=$(mktemp -d)
daemon=
finish()
{
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
	rm -rf "$dir"
}
trap finish EXIT
cd "$dir"
. "$GM_TOP/tests/bench/lttng_session.sh"
unset GPROF_MT_CONFIG LD_PRELOAD
export LTTNG_HOME=$dir/lttng
mkdir -p "$LTTNG_HOME"
$CC -std=gnu17 -O2 -pthread -I"$GM_TOP/libsync-trace" -I"$GM_TOP/libsync-trace/include" -o bench \
	"$GM_TOP/tests/bench/bench_lttng.c"

skip()
{
	printf 'lock and unlock through LTTng-UST\t%s\t-\t-\tns\t-\t-\t-\n' "$1"
	exit 0
}

begin_session gprof-mt-bench 'gmon_mt_sync:*' 'lttng_ust_pthread:*' -- --snapshot --output="$dir/session" || skip "$why"

printf '[sync]\nsink = lttng\n[output]\ndir = capture\nexisting = join\n' >config
for _ in $(seq "$rounds"); do
	./bench $n >>bare.ns
	./bench $n "$GM_BUILD/libsync_trace_ust.so" >>events.ns
	GPROF_MT_CONFIG=config LD_PRELOAD=$GM_BUILD/libsync_trace.so ./bench $n >>ours.ns
	LD_PRELOAD=$wrapper ./bench $n >>wrapper.ns 2>/dev/null || true
done
lttng destroy --no-wait gprof-mt-bench >/dev/null 2>&1

least()
{
	sort -n "$1" | head -n 1
}

# row PEER FILE BUDGET|-
row()
{
	[ -s "$2" ] || return 0
	awk -v peer="$1" -v p="$(least "$2")" -v o="$(least ours.ns)" -v b="$3" 'BEGIN {
		printf "lock and unlock through LTTng-UST\t%s\t%.1f\t%.1f\tns\t%.2f\t%s\t%s\n", peer, p, o,
			o / p, b, b == "-" ? b : o / p <= b ? "pass" : "miss" }'
}
row "not recorded" bare.ns -
row "the two events alone" events.ns 1.1
row "lttng-ust wrapper, recording" wrapper.ns -
