#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt sweep` of a program that records accesses: its table of unnecessary lock contention has the pairs of
# sections that the program is known to have, and the costs that `gprof-mt predict ulcp` prints; other programs have no
# such table.
. "$GM_TOP/tests/access/common.sh"
# shellcheck disable=SC2034 # for instrumented()
programs=$GM_TOP/tests/sweep/programs
settings=(--set sync.mode=all --set sync.order=on --set sample.stacks=off)
instrumented tables gcc
bare tables gcc

"$gprof_mt" sweep --runs 2 --format json "${settings[@]}" --threads '{t}=1,2,4' --workload 20,41 -o swept -- \
	./tables '{t}' '{w}' >got.json 2>err || fail "sweep: $(cat err)"
for dir in swept/*.t*/; do
	"$gprof_mt" predict ulcp --format json "$dir" >"$(basename "$dir").json" 2>err || fail "predict ulcp $dir: $(cat err)"
done
cat >check.py <<'END'
import glob, json
result = json.load(open("got.json"))
rows = {(row["workload"], row["threads"]): row for row in result["contention"]}
steps = {(step["workload"], step["threads"]) for step in result["steps"]}
assert len(rows) == len(result["contention"]), "a row occurs twice"
assert steps < set(rows) and {t for w, t in rows} == {1, 2, 4}, (steps, list(rows))
for (rounds, threads), row in rows.items():
    # A section that writes is followed by one of the next thread; the one before it is of the same thread.
    changes = (rounds + 3) // 4 if threads > 1 else 0
    pairs = rounds * threads - 1 if threads > 1 else 0
    assert row["sections"] == rounds * threads + (rounds + 3) // 4, row
    assert row["consecutive"] == pairs and row["read_read"] == row["unnecessary"] == pairs - changes, row
    assert row["null_lock"] == row["disjoint_write"] == row["benign"] == 0, row
    assert row["true"] + row["undecided"] == changes, row
    share = row["unnecessary_pct"]
    assert share is None if not pairs else abs(share - 100 * (pairs - changes) / pairs) < 1e-9, row
    name, = glob.glob(f"tables.w{rounds}.t{threads}.[0-9]*.json")
    recorded, free = json.load(open(name))["ulcp_times"]
    # Each prediction measures the cost of recording an operation again.
    for got, wanted in ((row["t_pd_pct"], recorded["t_pd_pct"]), (row["t_pd_free_pct"], free["t_pd_pct"])):
        assert abs(got - wanted) < 5, (row, recorded, free)
    assert row["t_pd_error_pct"] >= 0 and row["t_pd_free_error_pct"] >= 0, row
END
python3 check.py || fail "$(cat got.json)"
"$gprof_mt" sweep --resume --runs 2 "${settings[@]}" --threads '{t}=1,2,4' --workload 20,41 -o swept -- \
	./tables '{t}' '{w}' >text 2>err || fail "sweep --resume: $(cat err)"
grep -q '^Unnecessary lock contention$' text || fail "no table as text: $(cat text)"

# Without accesses there is nothing to tell; accesses without all operations have no costs.
"$gprof_mt" sweep --runs 2 --format json "${settings[@]}" --workload 20,41 -o bare -- ./tables.bare 2 '{w}' >got.json \
	2>err || fail "sweep: $(cat err)"
jq -e '.contention | not' got.json >/dev/null || fail "a table without accesses: $(cat got.json)"
exit 0
