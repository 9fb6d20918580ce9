#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program overwrites its environment, as daemons do for their title, and becomes another user: `record`
# still accepts its children, and the programs that they execute, as part of the recording.
. "$GM_TOP/tests/lib.sh"

[ "$(id -u)" = 0 ] || skip "needs root, to become another user"
build overwrites
chmod 755 . overwrites

# case_of LOCKS ARG...
case_of()
{
	local locks=$1 got
	shift
	fresh "$gprof_mt" record -q --set sync.mode=all --set kernel.source=none -- ./overwrites "$@" \
		>out 2>err || fail "overwrites $*: $(cat out err)"
	got=$("$gprof_mt" report --format json sync | python3 -c 'import json, sys
print(sum(r["calls"] for r in json.load(sys.stdin)["sync"] if r["function"] == "pthread_mutex_lock"))')
	"$gprof_mt" report --format json quality | python3 -c 'import json, sys
sys.exit(any(r.get("count") for r in json.load(sys.stdin)["quality"]))' ||
		fail "overwrites $*: expected an empty section quality: $("$gprof_mt" report quality | head -5)"
	echo "overwrites $*: $got of $locks locks"
	[ "$got" = "$locks" ] || fail "overwrites $*: expected $locks locks, found $got"
}

case_of 9
case_of 3 exec
exit 0
