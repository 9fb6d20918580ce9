#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A ring keeps to its size on the disk and in memory while a program makes many times as many events, and what it has is
# complete: each acquisition from the begin of the ring on, with its call site and call path.
# shellcheck source=tests/ring/common.sh
. "$GM_TOP/tests/ring/common.sh"

need jq babeltrace2 python3
build ring_locks
unset GPROF_MT_CONFIG LD_PRELOAD
M=1048576
rounds=500000
! with_sanitizers || rounds=100000

# recorded OPTION...: records the program, and sets largest to the largest size of its streams while it ran.
recorded()
{
	local now record program
	largest=0
	fresh :
	"$gprof_mt" record "$@" >out 2>err &
	record=$!
	while kill -0 $record 2>/dev/null; do
		# Its files do not change while they are listed.
		program=$(pgrep -P $record -x ring_locks) && kill -STOP "$program" || continue
		now=$(streams_bytes gprof-mt.data)
		kill -CONT "$program"
		[ "$now" -le "$largest" ] || largest=$now
	done
	wait $record || fail "$*: exit status $?: $(cat err)"
}

# The kernel's events have a quarter of it.
size=$((2 * M))
recorded --ring 2M --set sync.order=on -- ./ring_locks 2 $rounds
echo "2M, full-sched: $largest bytes at most, $(streams_bytes gprof-mt.data) at the end"
[ "$largest" -le $size ] || fail "expected at most $size bytes while it ran, found $largest"
[ "$(streams_bytes gprof-mt.data)" -le "$size" ] || fail "expected at most $size bytes at the end"
grep -qF 'gprof-mt: no samples: with --ring, only programs built with -pg have some' err ||
	fail "expected a line on samples, found: $(cat err)"
grep -q 'the ring has the last' err || fail "expected a line of record on the ring, found: $(cat err)"
[ "$(ring_from gprof-mt.data)" -gt 0 ] || fail "expected a part of the time, found from $(ring_from gprof-mt.data) on"
complete_events gprof-mt.data
"$gprof_mt" report --format json quality >quality.json 2>/dev/null || fail "report: exit status $?"
[ "$(problems quality.json)" = '[]' ] || fail "expected neither losses nor contradictions, found $(problems quality.json)"
ring_rss=$(info "rusage max_rss_bytes")

# Without one, the same run takes many times as much.
recorded --set kernel.source=none --set sync.order=on -- ./ring_locks 2 $rounds
echo "no ring: $largest bytes"
[ "$largest" -ge $((8 * size)) ] || fail "expected many times the ring without one, found $largest"
[ "$ring_rss" -le $(($(info "rusage max_rss_bytes") + 2 * M)) ] ||
	fail "expected no more memory with a ring: $ring_rss bytes, and $(info 'rusage max_rss_bytes') without"

# The files of programs that have ended make room, so one after the other loses nothing.
# shellcheck disable=SC2016 # for the inner shell
recorded --ring 4M --set sync.mode=all --set kernel.source=none -- \
	sh -c 'for i in $(seq 60); do ./ring_locks 1 5000; done'
echo "4M, 60 programs: $(streams_bytes gprof-mt.data) bytes at the end"
[ "$(streams_bytes gprof-mt.data)" -le $((4 * M)) ] || fail "expected at most 4M for 60 programs"
"$gprof_mt" report --format json quality >quality.json 2>/dev/null || fail "report: exit status $?"
[ "$(problems quality.json)" = '[]' ] || fail "expected neither losses nor damage of 60 programs, found $(problems quality.json)"
last=$("$gprof_mt" report --format json locks 2>/dev/null | jq '[.locks[] | select(.name == "hot") | .acquired] | max')
[ "$last" = 5000 ] || fail "expected all 5000 acquisitions of the last program, found $last"

# Many threads share it; a ring of a time keeps to output.max.
recorded --ring 4M --set sync.mode=all --set kernel.source=none -- ./ring_locks 40 $((rounds / 40))
echo "4M, 40 threads: $largest bytes at most"
[ "$largest" -le $((4 * M)) ] || fail "expected at most 4M for 40 threads, found $largest"
recorded --ring 30s --set sync.mode=all --set kernel.source=none --set output.max=2M -- ./ring_locks 2 $rounds
echo "30s in 2M: $largest bytes at most"
[ "$largest" -le $size ] || fail "expected at most output.max with a ring of a time, found $largest"
exit 0
