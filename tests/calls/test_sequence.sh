#!/bin/bash
# SPDX-License-Identifier: MIT
# Every call is recorded, and every return that the code reports, in order, for each thread: with small and
# large buffers, through longjmp, fork, and every end of a thread.
. "$GM_TOP/tests/calls/common.sh"

build_from pg sequence.c -pg
build_from exits sequence.c -pg -mfentry -minstrument-return=call
build_from functions sequence.c -finstrument-functions
for buffer in 4K 64K 4M; do
	configure "buffer = $buffer"
	for program in pg exits functions; do
		exits=--exits
		[ $program != pg ] || exits=--no-exits
		for what in "tree 3" "jump 2" "fork 2" "ends 6"; do
			[ $buffer = 4K ] || [ "$what" = "tree 3" ] || continue
			# shellcheck disable=SC2086 # the words are split on purpose
			fresh ./$program $what || fail "$program $what: exit status $?"
			records ./$program --compare $exits || fail "$program $what, $buffer"
		done
	done
done
[ "$(find gprof-mt.data/*/calls-history -name "stream_*" | wc -l)" -ge 6 ] || fail "expected at least 6 stream files"
