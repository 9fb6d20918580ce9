#!/bin/bash
# SPDX-License-Identifier: MIT
# No call is lost when signal handlers call profiled functions, even if a handler makes the table grow during
# an increment of the interrupted function.
. "$GM_TOP/tests/gmon/common.sh"

for flags in -O1 "-mfentry -O2"; do
	# shellcheck disable=SC2086 # the flags are split on purpose
	build_pg growth $flags
	for run in 1 2 3; do
		fresh ./growth 3000000 >expected || fail "$flags: exit status $?"
		[ "$(awk '/handle/ { print $2 }' expected)" -ge 64 ] || skip "the timer is too slow here"
		dir=$(folder)
		file=$(ls "$dir"/gmon.1.*)
		same "$flags, run $run: gmon.out" "$(cat expected)" \
			"$(flat growth gmon.out | grep -vE '^(main|run) ')"
		same "$flags, run $run: the thread" "$(cat expected)" \
			"$(flat growth "$file" | grep -v '^run ')"
		same "$flags, run $run: calls file" "$(cat expected)" \
			"$(calls "$dir" 1 | cut -d' ' -f2- | grep -v '^run ')"
	done
done
exit 0
