#!/bin/bash
# SPDX-License-Identifier: MIT
# Sections whose conflicts are known: a counter, places in one cache line, in several lines, readers; locks on the heap.
# Then captures that do not fit together.
. "$GM_TOP/tests/occ/common.sh"

instrumented cases gcc
bare cases gcc

# expect CASE PYTHON: the expression holds for the row of the leading section and the document.
expect()
{
	record_both cases "$1"
	predict
	python3 - "$2" <<'END' || fail "$1: $2: $(cat got)"
import json, sys
got = json.load(open("got"))
rows = [r for r in got["occ"] if r["acquired"] >= 500]
assert len(rows) == 1, [r["name"] for r in got["occ"]]
row = rows[0]
w = row["waits"]
assert eval(f"({sys.argv[1]})")
END
}

expect counter 'row["p_c"] == row["p_c_lines"] == 0.5 and row["intersect_locations"] == row["intersect_lines"] == 1
	and abs(row["conflict_prob"] - (1 - 0.5 ** w)) < 1e-9 and row["rw_locations"] == 1 and row["name"] == "lock"'
expect slots 'row["p_c"] == 0 and row["p_c_lines"] == 0.5 and row["conflict_prob"] == 0
	and row["intersect_locations"] == 0 and row["intersect_lines"] == 1'
expect disjoint 'row["p_c"] == row["p_c_lines"] == 0 and row["intersect_lines"] == 0'
expect readers 'row["p_c"] == row["p_c_lines"] == 0 and row["wr_ops"] == 0 and row["rd_locations"] == 1
	and sum(t["shared"] for t in row["threads"]) == 2000'
expect heap 'row["p_c"] == 0.5 and len(row["sites"]) == 2 and row["object"] is None'
expect alone 'row["p_c"] is None and row["conflict_prob"] is None and row["saved_pct"] is None
	and row["threads"][0]["occ_speedup"] is None'
"$gprof_mt" predict occ --by-name --cost 10 timing accesses 2>&1 |
	grep -q 'no two threads have recorded accesses' || fail "no reason for the missing figures"

# One capture for both: its build is the same, so locks are joined by their places.
record_all accesses ./cases counter >out 2>&1 || fail "$(cat out)"
"$gprof_mt" predict occ --cost 10 accesses >out 2>err || fail "one capture: $(cat err)"
grep -q 'one capture for both: recording accesses distorts its times' out || fail "$(cat out)"
grep -q '^lock (mutex) at 0x' out || fail "$(cat out)"

# refused LINE ARG...
refused()
{
	local line=$1
	shift
	! "$gprof_mt" predict occ --cost 10 "$@" >out 2>err || fail "$*: accepted"
	[ "$(wc -l <err)" = 1 ] && grep -q "$line" err || fail "$*: $(cat err)"
}

record_all timing ./cases.bare counter >out 2>&1 || fail "$(cat out)"
refused 'timing has no memory accesses of critical sections' timing
refused 'none of the 1 locks with times has accesses, which 1 locks have' timing accesses
mkdir build && sed 's/500/600/' "$programs/cases.c" >build/cases.c
gcc -g -O1 -pthread -o build/cases build/cases.c || fail "cannot compile another build"
record_all timing build/cases counter >out 2>&1 || fail "$(cat out)"
refused 'the captures are of different builds of cases (build-ids [0-9a-f]* and [0-9a-f]*)' timing accesses

# Locks of one capture only are counted.
record_all accesses ./cases other >out 2>&1 || fail "$(cat out)"
refused 'none of the 1 locks' --by-name timing accesses

# The measured cost is a plausible one.
record_both cases counter
"$gprof_mt" predict occ --by-name --format json timing accesses >got 2>err || fail "$(cat err)"
python3 -c '
import json
cost = json.load(open("got"))["occ_total"][0]["operation_cost_ns"]
assert 0 < cost < 20000, cost' || fail "the cost of recording"
