#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that is killed at any instant leaves a record of each completed call, and at most one more.
. "$GM_TOP/tests/calls/common.sh"

build_from killed killed.c -pg
configure "buffer = 4K"
for _ in $(seq 8); do
	fresh ./killed $((RANDOM % 19000 + 1)) >calls || fail "exit status $?"
	records ./killed >found || fail "unreadable"
	awk 'NR == FNR { recorded[$1] = length($2); next }
		recorded[$1] < $2 || recorded[$1] > $2 + 1 {
			print "thread " $1 ": " recorded[$1] + 0 " records of " $2 " calls"; bad = 1 }
		END { exit bad }' found calls || fail "records are missing"
done
