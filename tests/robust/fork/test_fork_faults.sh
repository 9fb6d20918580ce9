#!/bin/bash
# SPDX-License-Identifier: MIT
# A child of fork that takes one lock and calls one function has a limited number of page faults more
# than in the bare program.  Each takes 1 to 3 us; together they are most of the cost of a child.
. "$GM_TOP/tests/lib.sh"

! with_sanitizers || skip "sanitizers add page faults of their own"
build fork_faults
mv fork_faults bare
build_pg fork_faults

# faults COMMAND...: the page faults of a child, in hundredths; the least of 5 runs
faults()
{
	for _ in 1 2 3 4 5; do
		fresh "$@" 200
	done | sort -n | head -1
}

bare=$(faults ./bare)
# most NAME LIMIT COMMAND...: a child has at most LIMIT page faults more than in the bare program
most()
{
	local got
	got=$(($(faults "${@:3}") - bare))
	echo "$1: $((got / 100)) more page faults in each child, $2 allowed"
	[ $got -le $(($2 * 100)) ] || fail "$1: expected at most $2 more page faults in each child, found $got/100"
}

most libsync-trace 23 env LD_PRELOAD="$libsync" ./bare
most libgmon-mt 16 ./fork_faults
most both 34 env LD_PRELOAD="$libsync" ./fork_faults
exit 0
