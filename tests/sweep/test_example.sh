#!/bin/bash
# SPDX-License-Identifier: MIT
# From the example's tests, the sweep keeps the two whose threads wait for locks, and not those that compute, wait for a
# disk, or have too few CPUs; and the first section of each ranking is the cause, also where most waits are for another
# lock. GM_SWEEPS is the number of sweeps (1).
. "$GM_TOP/tests/lib.sh"
need python3
cp "$GM_BUILD/examples/plain/bottleneck" "$GM_TOP/examples/bottleneck.ini" .

for ((i = 1; i <= ${GM_SWEEPS-1}; i++)); do
	rm -rf data
	"$gprof_mt" sweep --runs 8 --format json -o data bottleneck.ini >all.json 2>err || fail "sweep $i: $(cat err)"
	python3 - <<'END' || fail "sweep $i: $(cat all.json)"
import json
result = json.load(open("all.json"))
kept = [step["test"] for step in result["steps"] if step["verdict"] == "exposes a problem"]
first = {}
for row in sorted(result["bottlenecks"] + result["inconclusive"], key=lambda row: -row["mean_ns"]):
    first.setdefault(row["test"], (row["lock"], row["entry"].split()[0]))
print(kept, first, {step["test"]: step["cpu_use_pct"] for step in result["steps"]})
assert kept == ["lock-a", "lock-b-behind-a"], kept
assert first == {"lock-a": ("lock_a", "lookup"), "lock-b-behind-a": ("lock_a", "update")}, first
assert "failures" not in result, result["failures"]
END
done
