#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures what `record`, with its defaults, costs servers of the distribution that are not rebuilt: redis-server, kept
# busy by redis-benchmark with 50 connections over a Unix socket; and memcached with four threads, by
# bench_memcached.c. They run bare and under `record` in turn. Reported are operations per second and the server's CPU
# time per operation, which is the better measure where clients and server share CPUs. The best of ROUNDS (default 5)
# counts. The file of redis-server is redis-check-rdb, in redis-tools, which starts no service where it is installed;
# memcached's package is unpacked, not installed.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget (the ratio), verdict.
set -eu

rounds=${ROUNDS:-5}
requests=${REQUESTS:-400000} batches=${BATCHES:-4000}
budget=0.95
apps=$GM_BUILD/apps
dir=$(mktemp -d)
server=
finish()
{
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	rm -rf "$dir"
}
trap finish EXIT
cd "$dir"
unset GPROF_MT_CONFIG LD_PRELOAD
export CC=${CC:-gcc}

# row WHAT PEER_VALUE OUR_VALUE UNIT BUDGET|-
row()
{
	awk -v what="$1" -v p="$2" -v o="$3" -v unit="$4" -v b="$5" 'BEGIN {
		printf "%s\tbare\t%s\t%s\t%s\t%.3f\t%s\t%s\n", what, p, o, unit, o / p, b,
			(b == "-" ? b : (o / p >= b ? "pass" : "miss")) }'
}

most()
{
	sort -g "$1" | tail -n 1
}

least()
{
	sort -g "$1" | head -n 1
}

# rows WHAT NAME: of the files NAME.bare.ops, NAME.record.ns, ...
rows()
{
	row "$1, record" "$(most "$2.bare.ops")" "$(most "$2.record.ops")" operations/s $budget
	row "$1, record, CPU time" "$(least "$2.bare.ns")" "$(least "$2.record.ns")" ns/operation -
}

# start WAY COMMAND...: in the background, in an empty folder work/
start()
{
	local way=$1 prefix=()
	shift
	[ "$way" = bare ] || prefix=("$GM_BUILD/gprof-mt" record -q -o "$dir/work/capture" --)
	rm -rf work && mkdir work
	(cd work && exec ${prefix[@]+"${prefix[@]}"} "$@" >said 2>&1) &
	server=$!
}

# stop WAY: a capture must have lost nothing, which would make recording look fast
stop()
{
	wait $server || true
	server=
	[ "$1" = bare ] || {
		"$GM_BUILD/gprof-mt" report -i work/capture --format json quality >quality &&
			jq -e '[.quality[].what | select(test("lost|discarded"))] == []' quality >/dev/null || {
			cat quality work/said >&2
			exit 1
		}
	}
}

# ready COMMAND...: polls until the command succeeds, as long as the server runs
ready()
{
	until "$@" >/dev/null 2>&1; do
		kill -0 $server 2>/dev/null || { cat work/said >&2; exit 1; }
		sleep 0.02
	done
}

# --- redis ---
cli()
{
	redis-cli -s work/s "$@"
}

cpu_s()
{
	cli info cpu | tr -d '\r' | awk -F : '$1 == "used_cpu_sys" || $1 == "used_cpu_user" { s += $2 } END { print s }'
}

# redis WAY KIND N OPTION...: N times SET and N times GET
redis()
{
	local way=$1 kind=$2 n=$3 operation before after
	shift 3
	start "$way" "$dir/redis-server" --port 0 --unixsocket s --save "" --appendonly no
	ready cli ping
	for operation in set get; do
		before=$(cpu_s)
		redis-benchmark -s work/s -n "$n" -c 50 -d 100 -r 10000 -t $operation --csv "$@" >result
		after=$(cpu_s)
		awk -F '"' 'END { print $4 }' result >>"redis.$kind.$operation.$way.ops"
		awk -v a="$after" -v b="$before" -v n="$n" 'BEGIN { printf "%.0f\n", (a - b) * 1e9 / n }' \
			>>"redis.$kind.$operation.$way.ns"
	done
	cli shutdown nosave >/dev/null 2>&1 || true
	stop "$way"
}

if command -v redis-benchmark >/dev/null; then
	ln -s "$(command -v redis-check-rdb)" redis-server
	for _ in $(seq "$rounds"); do
		for way in bare record; do
			redis $way pipelined "$requests" -P 16
			redis $way single $((requests / 8))
		done
	done
	for operation in set get; do
		rows "redis-server, ${operation^^}, 16 at a time" redis.pipelined.$operation
		rows "redis-server, ${operation^^}, one at a time" redis.single.$operation
	done
else
	printf 'redis-server\tredis-tools is not installed\t-\t-\toperations/s\t-\t-\t-\n'
fi

# --- memcached ---
memcached()
{
	local port name pid
	start "$1" env MEMCACHED_PORT_FILENAME=ports "$apps/memcached.deb/usr/bin/memcached" -u "$(id -un)" -t 4 -p -1 \
		-l 127.0.0.1 -m 64
	ready grep -q '^TCP INET: ' work/ports
	port=$(sed -n 's/^TCP INET: //p' work/ports)
	exec 3<>"/dev/tcp/127.0.0.1/$port"
	printf 'stats\r\n' >&3
	while read -r _ name pid <&3 && [ "$name" != pid ]; do :; done
	pid=${pid%$'\r'}
	exec 3>&-
	./load "$port" "$pid" "$batches" >result
	kill "$pid"
	stop "$1"
	cut -d ' ' -f 1 result >>"memcached.$1.ops"
	cut -d ' ' -f 2 result >>"memcached.$1.ns"
}

if "$GM_TOP/tests/apps/fetch-package" memcached "$apps/memcached.deb" >&2; then
	$CC -std=gnu17 -O2 -pthread -o load "$GM_TOP/tests/bench/bench_memcached.c"
	for _ in $(seq "$rounds"); do
		memcached bare
		memcached record
	done
	rows "memcached of the distribution" memcached
else
	printf 'memcached of the distribution\tits package cannot be fetched\t-\t-\toperations/s\t-\t-\t-\n'
fi
