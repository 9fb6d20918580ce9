#!/bin/bash
# SPDX-License-Identifier: MIT
# A child of fork that takes one lock and calls one function: the page faults that it has beyond those
# of the same program without the libraries.  Each takes 1 to 3 us; they are most of what a child costs.
. "$GM_TOP/tests/lib.sh"

case $GM_BUILD in *build-*) echo "sanitizers have page faults of their own"; exit 77 ;; esac
build fork_faults
mv fork_faults bare
build_pg fork_faults

# faults COMMAND...: of a child, in hundredths, the least of 5 runs
faults()
{
	for _ in 1 2 3 4 5; do
		fresh "$@" 200
	done | sort -n | head -1
}

bare=$(faults ./bare)
# most NAME LIMIT COMMAND...: no more than LIMIT faults a child over the bare program
most()
{
	local got
	got=$(($(faults "${@:3}") - bare))
	echo "$1: $((got / 100)) more page faults a child, $2 allowed"
	[ $got -le $(($2 * 100)) ] || fail "$1: too many"
}

most libsync-trace 18 env LD_PRELOAD="$libsync" ./bare
most libgmon-mt 16 ./fork_faults
most both 29 env LD_PRELOAD="$libsync" ./fork_faults
exit 0
