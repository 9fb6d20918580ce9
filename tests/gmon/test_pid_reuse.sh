#!/bin/bash
# SPDX-License-Identifier: MIT
# Processes with the same id, one after the other or in PID namespaces, each have a folder of their own, with
# one library or both: none uses the folder of another, and none is lost.
. "$GM_TOP/tests/gmon/common.sh"
build_pg pid_namespaces

# leaves NAME EXPECTED COMMAND...: EXPECTED is the calls of `leaf`, a number per folder, sorted
leaves()
{
	local what=$1 expected=$2 got status
	shift 2
	fresh timeout 60 "$@" >out 2>&1
	status=$?
	[ $status != 77 ] || skip "$(cat out)"
	same "$what: exit status, output" "0 " "$status $(cat out)"
	got=$(for dir in gprof-mt.data/[0-9]*; do
		flat pid_namespaces "$dir"/gmon.* | awk '$1 == "leaf" { n += $2 } END { print n + 0 }'
	done | sort -n | paste -sd ' ')
	same "$what: calls of leaf by process" "$expected" "$got"
	[ -z "$(find gprof-mt.data -name '.*')" ] || fail "$what: left behind: $(find gprof-mt.data -name '.*')"
}

for how in in_turn at_once; do
	expected="1 $(seq -s ' ' 4)"
	[ $how = in_turn ] || expected="1 $(seq -s ' ' 8)"
	leaves "$how" "$expected" ./pid_namespaces $how
	leaves "$how, both libraries" "$expected" env LD_PRELOAD="$GM_BUILD/libsync_trace.so" ./pid_namespaces $how
done
exit 0
