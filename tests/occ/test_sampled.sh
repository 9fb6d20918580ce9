#!/bin/bash
# SPDX-License-Identifier: MIT
# The accesses of any program can be sampled: the two captures are of one build, so locks are joined by their places.
# The stack that single steps see is left out.
. "$GM_TOP/tests/occ/common.sh"

bare cases gcc
record_all timing ./cases.bare counter >out 2>&1 || fail "$(cat out)"
"$gprof_mt" record -q -o accesses --set sync.mode=all --accesses=sampled --set access.budget=100 -- \
	./cases.bare counter >out 2>&1 || fail "$(cat out)"
"$gprof_mt" predict occ --cost 10 --format json timing accesses >got 2>err || fail "predict: $(cat err)"
python3 - <<'END' || fail "see above: $(cat got)"
import json
row = json.load(open("got"))["occ"][0]
assert row["name"] == "lock" and row["acquired"] == 2000, row
assert row["instances"] + row["unknown"] == 2000 and row["instances"] >= 1, row["instances"]
assert row["rw_locations"] == 1 and row["wr_ops"] >= 1, row["rw_locations"]
assert row["p_c"] == (0.5 if row["compared"] else None), row["p_c"]
END
