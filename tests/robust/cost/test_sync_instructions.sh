#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The cost of an uncontended lock and unlock beyond the bare calls, in instructions counted by
# callgrind: the difference between a long and a short run.  Unlike times, it does not depend on the
# load of the machine.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need valgrind
need_tsc
[ "$(uname -m)" = x86_64 ] || skip "the fast paths are those of x86-64"
"$CC" -std=gnu17 -O2 -pthread -o bench "$GM_TOP/tests/bench/bench_sync.c" || fail "cannot compile"
unset GPROF_MT_CONFIG LD_PRELOAD

# instructions N [VARIABLE=VALUE...]: the instructions of a run with N pairs
instructions()
{
	local n=$1
	shift
	rm -rf gprof-mt.data gprof-mt.data.old
	"${on_tsc[@]}" env "$@" valgrind --tool=callgrind --callgrind-out-file=/dev/null ./bench uncontended "$n" 2>&1 |
		sed -n 's/.*Collected : //p'
}

# pair [VARIABLE=VALUE...]: ten times the instructions of one lock and unlock
pair()
{
	local few many
	few=$(instructions 10000 "$@")
	many=$(instructions 60000 "$@")
	[ -n "$few" ] || fail "valgrind printed no count of instructions"
	echo $(((many - few) / 5000))
}

bare=$(pair GPROF_MT=)
# check MOST WHAT [VARIABLE=VALUE...]
check()
{
	local most=$1 what=$2 added
	shift 2
	added=$(($(pair LD_PRELOAD="$libsync" "$@") - bare))
	echo "$what: $((added / 10)).$((added % 10)) instructions beyond the bare $((bare / 10))"
	[ "$added" -le $((10 * most)) ] || fail "$what: expected at most $most instructions more than bare, found $((added / 10)).$((added % 10))"
}

printf "[sync]\nmode = all\npath_sample = off\n" >all.conf
check 110 "recorded" GPROF_MT_CONFIG="$PWD/all.conf"
printf "[sync]\nmode = all\n" >sampled.conf
check 114 "recorded, with the call path of 1 in 1,000" GPROF_MT_CONFIG="$PWD/sampled.conf"
printf "[sync]\nmode = contended\n" >contended.conf
check 135 "only waits recorded" GPROF_MT_CONFIG="$PWD/contended.conf"
printf "[sync]\nmode = contended\nholds = yes\n" >timed.conf
check 470 "only waits recorded, holds measured" GPROF_MT_CONFIG="$PWD/timed.conf"
