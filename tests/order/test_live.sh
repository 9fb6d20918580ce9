#!/bin/bash
# SPDX-License-Identifier: MIT
# `replay --engine=live` runs generated programs again, with 2 to 16 threads: each acquisition has its recorded turn,
# and the program computes the same values, which depend on the order of all acquisitions. GM_LIVE_RUNS: replays of each
# of the ten programs (default 10).
. "$GM_TOP/tests/lib.sh"
need jq
build random_locks

runs=${GM_LIVE_RUNS:-10} n=0
for program in '1 2 100' '2 3 100' '3 4 200' '4 4 100' '5 5 100' '6 6 100' '7 8 100' '8 8 50' '9 12 50' '10 16 50'; do
	rm -rf kept
	# shellcheck disable=SC2086 # words
	timeout $((60 + 10 * runs)) "$gprof_mt" replay --engine=live --runs="$runs" --keep kept --format json -- ./random_locks $program >rows 2>err ||
		fail "$program: $(cat err rows)"
	jq -e --argjson runs "$runs" '.live_replays | length == $runs and
		all(.outcome == "kept" and .kept_pct == 100 and .status == 0 and .acquired > 100)' rows >/dev/null ||
		fail "$program: $(cat rows)"
	for output in kept/run.*.out; do
		cmp -s "$output" kept/recorded.out || fail "$program: other values in ${output##*/}"
		n=$((n + 1))
	done
done
echo "$n replays"
[ $n = $((10 * runs)) ] || fail "only $n replays"
