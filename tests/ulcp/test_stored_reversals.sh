#!/bin/bash
# SPDX-License-Identifier: MIT
# `replay --engine=live --reverse` of a capture stores its results there: `report ulcp` and `suggest` then have the
# pairs as benign or true, with the evidence. Results of another capture or build are refused.
. "$GM_TOP/tests/access/common.sh"
need jq
# shellcheck disable=SC2034 # for instrumented()
programs=$GM_TOP/tests/ulcp/programs

instrumented reversals gcc

# figures DIR: benign, true and undecided pairs, by process, lock and pair of calls
figures()
{
	"$gprof_mt" report -i "$1" ulcp --format json >json 2>err || fail "report $1: $(cat err)"
	jq -r '[.ulcp[0], .ulcp_locks[0], .ulcp_pairs[0]] | map("\(.benign) \(.true) \(.undecided)") | join(", ")' json
}

# notes DIR: of the report
notes()
{
	"$gprof_mt" report -i "$1" ulcp
}

# reversed CASE: records it, and reverses its pair
reversed()
{
	"$gprof_mt" record -q -o "$1.capture" --set sync.mode=all --set sync.order=on --set kernel.source=none -- ./reversals "$1" >out 2>&1 ||
		fail "$1: $(cat out)"
	same "$1, before" "0 0 1, 0 0 1, 0 0 1" "$(figures "$1.capture")"
	notes "$1.capture" | grep -q "1 undecided pairs may be decided by replays in the other order" || fail "no hint: $(notes "$1.capture")"
	timeout 200 "$gprof_mt" replay -q --engine=live --reverse=1 "$1.capture" -- ./reversals "$1" >out 2>err ||
		fail "$1: exit status $?: $(cat err)"
	grep -q "the results are stored in $1.capture/reversals.json" out || fail "$1: $(cat out)"
	same "$1: mode of the file" 600 "$(stat -c %a "$1.capture/reversals.json")"
}

reversed counter
same "counter" "1 0 0, 1 0 0, 1 0 0" "$(figures counter.capture)"
notes counter.capture | grep -q "1 pairs are benign or true since 1 samples .* executed in both orders, in 4 runs" ||
	fail "no evidence: $(notes counter.capture)"
"$gprof_mt" suggest --runs 2 counter.capture >suggest 2>err || fail "suggest: $(cat err)"
grep -q "1 of 1 pairs of consecutive sections .* need not exclude each other (1 of them by replays" suggest || fail "$(cat suggest)"
reversed push
same "push" "0 1 0, 0 1 0, 0 1 0" "$(figures push.capture)"

# Of another capture: refused, and the pairs are as before.
cp push.capture/reversals.json counter.capture
same "another capture" "0 0 1, 0 0 1, 0 0 1" "$(figures counter.capture)"
for command in "report -i counter.capture ulcp" "suggest --runs 2 counter.capture"; do
	# shellcheck disable=SC2086 # words
	"$gprof_mt" $command >out 2>err || fail "$command: $(cat err)"
	same "$command: lines" 1 "$(grep -c "counter.capture/reversals.json is not used, since it is of another capture" out)"
done
for text in '' '{' '[]' '{"schema": 2}' '{"schema": 1}'; do
	echo "$text" >counter.capture/reversals.json
	same "'$text'" "0 0 1, 0 0 1, 0 0 1" "$(figures counter.capture)"
	notes counter.capture | grep -q "counter.capture/reversals.json is not used, since" || fail "'$text': $(notes counter.capture)"
done

# Another build of the program: its results are not stored.
rm counter.capture/reversals.json
instrumented reversals gcc -O2
timeout 200 "$gprof_mt" replay -q --engine=live --reverse=1 counter.capture -- ./reversals counter >out 2>err || true
[ ! -e counter.capture/reversals.json ] || fail "results of another build: $(cat counter.capture/reversals.json out)"
