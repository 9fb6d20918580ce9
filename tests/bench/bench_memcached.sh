#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the cost of the profile applic-only for a server: memcached (tests/apps) with four threads, kept busy by
# four clients on loopback.  It runs unprofiled; with libsync_trace preloaded, in the modes all, contended and auto
# (the default); and, built with -pg, with both libraries.  Reported are operations per second and the server's CPU
# time per operation, which is the better measure where clients and server share CPUs.  The servers alternate; the
# best of ROUNDS (default 5) counts.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-5}
batches=${BATCHES:-4000}
apps=$GM_BUILD/apps
tests=$GM_TOP/tests/apps
dir=$(mktemp -d)
server=
finish()
{
	[ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true
	rm -rf "$dir"
}
trap finish EXIT
cd "$dir"
unset GPROF_MT_CONFIG LD_PRELOAD
export CC=${CC:-gcc}

mkdir -p "$apps"
"$tests/fetch-source" memcached "$apps/memcached" >&2
"$tests/build" memcached "$apps/memcached" "$GM_BUILD" >&2
$CC -std=gnu17 -O2 -pthread -o load "$GM_TOP/tests/bench/bench_memcached.c"
cp "$GM_TOP/configs/applic-only.conf" default.conf
for mode in all contended; do sed "s/^mode = auto\$/mode = $mode/" default.conf >$mode.conf; done
! cmp -s all.conf contended.conf || { echo "configs/applic-only.conf: expected 'mode = auto', found no such line" >&2; exit 1; }

# loaded WAY TREE PRELOAD CONFIG: starts a server, loads it and ends it; appends operations per second to the
# file WAY.ops, nanoseconds per operation to WAY.ns
loaded()
{
	local port=
	rm -rf work && mkdir work
	(cd work && exec env MEMCACHED_PORT_FILENAME="$dir/work/ports" LD_PRELOAD="$3" \
		GPROF_MT_CONFIG="$4" \
		"$apps/memcached/$2/memcached" -u "$(id -un)" -t 4 -p -1 -l 127.0.0.1 -m 64 >said 2>&1) &
	server=$!
	until [ -n "$port" ]; do
		kill -0 $server 2>/dev/null || { cat work/said >&2; exit 1; }
		sleep 0.02
		port=$(sed -n 's/^TCP INET: //p' work/ports 2>/dev/null) || true
	done
	./load "$port" "$server" "$batches" >result
	kill $server
	wait $server || true
	server=
	[ -z "$3" ] || lossless "$1"
	cut -d ' ' -f 1 result >>"$1.ops"
	cut -d ' ' -f 2 result >>"$1.ns"
}

# Fails if the capture lacks events: lost events would make recording look fast.
lossless()
{
	"$GM_BUILD/gprof-mt" report -i work/gprof-mt.data quality >quality 2>&1 &&
		grep -q 'nothing lost' quality || { cat quality >&2; exit 1; }
}

for _ in $(seq "$rounds"); do
	loaded none plain "" ""
	loaded waits plain "$GM_BUILD/libsync_trace.so" "$dir/contended.conf"
	loaded default plain "$GM_BUILD/libsync_trace.so" "$dir/default.conf"
	loaded sync plain "$GM_BUILD/libsync_trace.so" "$dir/all.conf"
	loaded all linked "$GM_BUILD/libsync_trace.so" "$dir/all.conf"
done

# row WHAT PEER_VALUE OUR_VALUE UNIT
row()
{
	awk -v what="$1" -v p="$2" -v o="$3" -v unit="$4" 'BEGIN {
		printf "%s\tnot profiled\t%s\t%s\t%s\t%.3f\t-\t-\n", what, p, o, unit, o / p }'
}

ops()
{
	sort -g "$1.ops" | tail -n 1
}

ns()
{
	sort -g "$1.ns" | head -n 1
}

for way in "all:applic-only" "sync:synchronization alone" "waits:synchronization alone, waits only" \
	"default:synchronization alone, default"; do
	row "memcached, ${way#*:}" "$(ops none)" "$(ops "${way%%:*}")" operations/s
	row "memcached, ${way#*:}, CPU time" "$(ns none)" "$(ns "${way%%:*}")" ns/operation
done
