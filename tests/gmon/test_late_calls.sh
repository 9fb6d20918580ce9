#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls that a thread makes after all its destructors, when only the C library still runs, are in its profile.
. "$GM_TOP/tests/gmon/common.sh"
n=10

# check NAME COMMAND...
check()
{
	local what=$1 dir file
	shift
	fresh timeout 60 "$@" || fail "$what: exit status $?"
	dir=$(folder) || fail "$what"
	same "$what: lost" 0 "$(lost "$dir")"
	same "$what: gmon.out" "leaf $((2 * n * 105))" "$(flat late_calls gmon.out | grep '^leaf ')"
	same "$what: calls file" "$((2 * n)) threads of 105" \
		"$(calls "$dir" | awk '$2 == "leaf" { n[$3]++ } END { for (c in n) print n[c] " threads of " c }')"
	for file in "$dir"/gmon.[1-9]*; do
		same "$what: $file" "leaf 105" "$(flat late_calls "$file" | grep '^leaf ')"
	done
}

build_pg late_calls
check linked ./late_calls $n
compile_pg -pthread -o late_calls late_calls.c
check preloaded env LD_PRELOAD="$libgmon" ./late_calls $n

# One thread after the other, with returns: 111 calls per thread.
build_pg late_calls -mfentry -minstrument-return=call
echo '[calls]
mode = history' >gprof-mt.conf
check history ./late_calls $n
command -v babeltrace2 >/dev/null || exit 0
babeltrace2 "$(folder)/calls-history" >text || fail "babeltrace2"
same "history: records" "$((2 * n)) threads of 111 calls and 111 returns" "$(awk '
	match($0, / (call|return): /) {
		event = substr($0, RSTART + 1, RLENGTH - 3)
		match($0, /index = [0-9]+/)
		index_ = substr($0, RSTART + 8, RLENGTH - 8)
		n[index_, event]++
		if (index_ > 0) seen[index_]
	}
	END {
		for (i in seen) sums[n[i, "call"] " calls and " n[i, "return"] " returns"]++
		for (s in sums) print sums[s] " threads of " s
	}' text)"
exit 0
