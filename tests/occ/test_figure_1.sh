#!/bin/bash
# SPDX-License-Identifier: MIT
# The program of paper 001's Figure 1 has the figures of the paper: 1.49 reads and writes, a conflict probability of
# 0.187 where an acquisition waits for 1.63 others, and an intersection of 1 location and 2 cache lines. The number of
# others that it waits for depends on the machine, so the probability is checked by the formula. All other figures
# follow from those of the threads.
. "$GM_TOP/tests/occ/common.sh"

instrumented figure_1 gcc
bare figure_1 gcc
record_both figure_1
predict
python3 - <<'END' || fail "see above: $(cat got)"
import json

got = json.load(open("got"))
row, total = got["occ"][0], got["occ_total"]
assert len(got["occ"]) == 1 and row["name"] == "lock" and row["type"] == "rwlock", row["name"]
assert len(row["sites"]) == 1 and row["sites"][0]["site"].startswith("xwork (figure_1.c:"), row["sites"]


def near(what, value, expected, tolerance):
    assert abs(value - expected) <= tolerance, f"{what}: {value}, expected {expected}"


for key in "rd_ops", "wr_ops", "rw_locations", "rw_lines":
    near(key, row[key], 1.49, 0.149)
near("rd_locations", row["rd_locations"], 0, 0)
assert row["instances"] == row["acquired"] == 3000 and row["unknown"] == row["inexact"] == 0
near("p at w = 1.63", 1 - (1 - row["p_c"]) ** 1.626667, 0.187379, 0.0187)
near("p_c of lines", row["p_c_lines"], 0.5, 1e-9)
near("intersect", row["intersect_locations"], 1, 1e-9)
near("intersect, lines", row["intersect_lines"], 2, 1e-9)
assert 1 <= row["waits"] <= 2, row["waits"]
near("p", row["conflict_prob"], 1 - (1 - row["p_c"]) ** row["waits"], 1e-9)
near("p of lines", row["conflict_prob_lines"], 1 - 0.5 ** row["waits"], 1e-9)

saved, execution = 0, total[0]["execution_ns"]
assert len(row["threads"]) == 3
for thread in row["threads"]:
    repeats = row["conflict_prob"] / (1 - row["conflict_prob"])
    assert thread["shared"] == 0 and thread["exclusive"] == 1000
    speedup = 1 / (1 + thread["frac_cs"] * repeats - thread["frac_wait"])
    near("speedup", thread["occ_speedup"], speedup, 1e-9)
    near("the paper's speedup", thread["paper_speedup"], speedup, 1e-9)
    assert thread["frac_release"] is None and thread["contended_releases"] > 0
    saved += max(thread["frac_wait"] - thread["frac_cs"] * repeats, 0) * thread["hold_ns"] / thread["frac_cs"]
near("efficiency", total[0]["max_occ_efficiency"], saved / execution, 1e-6)
near("best case", total[0]["best_case_speedup"], 1 / (1 - total[0]["max_occ_efficiency"]), 1e-9)
near("the paper's best case", total[0]["paper_best_case_speedup"], total[0]["best_case_speedup"], 1e-9)
assert total[0]["release_cost_ns"] is None and any("no wake-ups were recorded" in note["note"] for note in got["notes"])
near("saved", row["saved_pct"], 100 * total[0]["max_occ_efficiency"], 1e-9)
END

# In text, words come first, then the paper's layout.
"$gprof_mt" predict occ --by-name timing accesses >text 2>err || fail "text: $(cat err)"
sed -n 3p text | grep -q '^Optimistic concurrency would save up to [0-9.]* % of the threads. time' || fail "$(cat text)"
grep -Eq '^  rd ops 1\.4[0-9]{2}  wr ops 1\.4' text || fail "$(cat text)"
grep -q '^  intersect locations 1.000  cache lines 2.000$' text || fail "$(cat text)"
grep -q 'cost of recording: .* ns for each operation, measured on this machine now' text || fail "$(cat text)"
"$gprof_mt" predict occ --by-name --format csv --table occ.threads timing accesses >csv 2>err || fail "csv: $(cat err)"
[ "$(wc -l <csv)" = 4 ] || fail "$(cat csv)"
