#!/bin/bash
# SPDX-License-Identifier: MIT
# The CPU time of releases that wake a thread is measured, and counts as saved. It is longer than that of others,
# and all other figures follow from it.
. "$GM_TOP/tests/occ/common.sh"
can_trace || skip "needs scheduling events"

instrumented releases gcc
bare releases gcc
"$gprof_mt" record -q -o timing --set sync.mode=all --set sample.stacks=off -- ./releases.bare 100 >out 2>&1 ||
	fail "$(cat out)"
record_all accesses ./releases 100 >out 2>&1 || fail "$(cat out)"
predict
python3 - <<'END' || fail "see above: $(cat got)"
import json

got = json.load(open("got"))
rows = {row["name"]: row for row in got["occ"]}
row, total = rows["lock"], got["occ_total"][0]
assert row["acquired"] == 300, row
lead, follow = sorted(row["threads"], key=lambda thread: -thread["exclusive"])
assert (lead["exclusive"], follow["exclusive"]) == (200, 100), row["threads"]
assert lead["contended_releases"] == 100 and total["release_cost_ns"] > 0, total
assert not any("not counted as saved" in note["note"] for note in got["notes"]), got["notes"]


def near(what, value, expected):
    assert abs(value - expected) <= 1e-6 * abs(expected), f"{what}: {value}, expected {expected}"


repeats = row["conflict_prob"] / (1 - row["conflict_prob"])
for thread in lead, follow:
    execution_ns = thread["hold_ns"] / thread["frac_cs"]
    share = thread["contended_releases"] * total["release_cost_ns"] / execution_ns
    near("frac_release", thread["frac_release"], min(share, 1 - thread["frac_wait"]))
    left = 1 + thread["frac_cs"] * repeats - thread["frac_wait"]
    near("the paper's speedup", thread["paper_speedup"], 1 / left)
    near("speedup", thread["occ_speedup"], 1 / (left - thread["frac_release"]))
assert total["best_case_speedup"] >= total["paper_best_case_speedup"]
END
