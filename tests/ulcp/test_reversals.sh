#!/bin/bash
# SPDX-License-Identifier: MIT
# `replay --engine=live --reverse`: of conflicting sections, those that leave the same values in both orders are benign.
# Cases by hand, and generated sections that are compared with a direct execution of both orders.
. "$GM_TOP/tests/access/common.sh"
# shellcheck disable=SC2034 # for instrumented()
programs=$GM_TOP/tests/ulcp/programs

instrumented reversals gcc

# reversed NAME ARGUMENT...: reverses a sample of each pair of sites of ./reversals ARGUMENT..., into NAME.json; its
# runs stay in NAME.runs.
reversed()
{
	local name=$1
	shift
	rm -rf "$name.runs"
	timeout 200 "$gprof_mt" replay -q --engine=live --reverse=1 --keep "$name.runs" --format json -- ./reversals "$@" >"$name.json" 2>err ||
		fail "$*: exit status $?: $(cat err)"
}

# failed NAME: tells what is known of it.
failed()
{
	fail "$1: $(cat "$1.json"; "$gprof_mt" report -i "$1.runs/run.000000" ulcp)"
}

# result CASE RESULT [REASON]: the pair of sections has this result, and a reason that begins so. (A section within
# another one is a pair of its own, and cannot be reversed.)
result()
{
	reversed "$1" "$1"
	python3 - "$@" <<'END' || failed "$1"
import json, sys
case, result, *reason = sys.argv[1:]
row, *within = json.load(open(case + ".json"))["ulcp_reversals"]
assert row["result"] == result, row
assert row["reason"].startswith(reason[0] if reason else ""), row
assert row["conflicts"] == row["candidates"] == row["samples"] == 1, row
assert row["same"] == (result == "benign"), row
assert [row["ordered"] for row in within] == [1] * (case == "nested"), within
END
}

for case in counter bits flag max heap stack nested writer spin try; do
	result $case benign
done
for case in push last floats ids; do
	result $case true 'the orders leave different values'
done
result time undecided 'the same order leaves different values'
result post undecided 'the second section waits for'
result pipe undecided 'thread 1, operation 1: its turn did not come'
result inside undecided 'the program does not end in the other order, and was killed'

# Figure 4 of paper 003: a section that polls, before and after the one that it waits for.
reversed figure_4 figure_4
python3 -c '
import json
row, = json.load(open("figure_4.json"))["ulcp_reversals"]
assert row["first"].startswith("poll_ref ") and row["second"].startswith("release_ref "), row
assert row["candidates"] and row["same"] == row["samples"] - row["ordered"] == 1 and row["result"] == "benign", row
' || failed figure_4

# The program's output is that of a run: the pair changes nothing else.
for output in counter.runs/*.out; do
	same "$output" "30 0 0 0 0 1 0 0" "$(cat "$output")"
done

# vars SECTION SECTION [ROUNDS]: see reversals.c; the verdict is that of an execution in both orders.
n=0
for seed in $(seq "${GM_REVERSALS:-8}"); do
	read -r first second < <(python3 "${0%/*}/reversals.py" "$seed")
	reversed vars vars "$first" "$second" $((seed % 2 * 20))
	python3 "${0%/*}/reversals.py" "$seed" vars.json || failed vars
	n=$((n + 1))
done
echo "$n generated pairs"

# A capture of another run: variables of the program are found wherever it is loaded, blocks of the heap are not.
for case in counter heap; do
	"$gprof_mt" record -q -o "$case.capture" --set sync.mode=all --set sync.order=on --set kernel.source=none -- ./reversals $case >out 2>&1 ||
		fail "$case: $(cat out)"
	timeout 200 "$gprof_mt" replay -q --engine=live --reverse=1 --format json "$case.capture" -- ./reversals $case >$case.json 2>err ||
		fail "$case: exit status $?: $(cat err)"
done
python3 -c '
import json
row, = json.load(open("counter.json"))["ulcp_reversals"]
assert row["result"] == "benign", row
row, = json.load(open("heap.json"))["ulcp_reversals"]
assert row["result"] == "undecided" and row["elsewhere"] == 1, row
assert row["reason"] == "the sections access other memory in a replay", row' || fail "$(cat counter.json heap.json)"

# Errors are found before a run.
for n in 0 -1 x 100001; do
	"$gprof_mt" replay --engine=live --reverse=$n -- ./reversals counter >out 2>err && fail "--reverse=$n is accepted"
	grep -q "invalid --reverse '$n'" err || fail "$(cat err)"
done
for words in '--reverse=1 --runs=1' '--reverse=1 --unchecked' '--accesses=sampled' '--reverse=1 --accesses=off'; do
	# shellcheck disable=SC2086 # words
	"$gprof_mt" replay --engine=live $words -- ./reversals counter >out 2>err && fail "$words is accepted"
	same "$words: lines" 1 "$(wc -l <err)"
done
bare reversals gcc
timeout 60 "$gprof_mt" replay --engine=live --reverse=1 -- ./reversals.bare counter >out 2>err && fail "no accesses, no error"
same "without accesses" "gprof-mt: ./reversals.bare: no memory accesses of critical sections were recorded: build the program \
with the flags of access-trace, or use --accesses=sampled" "$(cat err)"
[ ! -s out ] || fail "$(cat out)"

# Single steps see bit fields, and any program. (The loader resolves all functions first: it cannot be stepped.)
[ -e "$GM_BUILD/libaccess_step.so" ] || exit 0
bare reversals gcc -Wl,-z,now
timeout 200 "$gprof_mt" replay -q --engine=live --reverse=1 --accesses=sampled --format json -- ./reversals.bare fields >fields.json 2>err ||
	fail "fields: exit status $?: $(cat err)"
python3 -c '
import json
row, = json.load(open("fields.json"))["ulcp_reversals"]
assert row["result"] == "benign" and row["same"] == 1, row' || fail "$(cat fields.json)"
