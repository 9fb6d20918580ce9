#!/bin/bash
# SPDX-License-Identifier: MIT
# Some sections are stepped, within a budget: those are recorded exactly, also where others around them or behind them
# are not; rare sections are among them; and no event is missing.
. "$GM_TOP/tests/step/common.sh"

gcc -O1 -g -Wl,-z,now -o sampled "$programs/sampled.c" -pthread || fail "cannot compile"
for budget in 5 50; do
	rm -rf d
	"$gprof_mt" record -q -o d --accesses=sampled --set sync.mode=all --set access.budget=$budget \
		--set kernel.source=none --set sample.stacks=off -- ./sampled 1200 >out 2>err || fail "$(cat err)"
	"$gprof_mt" report -i d --format json accesses quality >report.json 2>err || fail "$(cat err)"
	python3 - "$programs/sampled.c" <<'END' || fail "budget $budget: see above"
import json, re, sys

NAMES = ("frequent", "rare", "outer", "inner", "first", "second")
WRITES = {"frequent": 1, "rare": 2, "outer": 4, "inner": 1, "first": 3, "second": 5}
executed = dict(zip(NAMES, map(int, open("out").read().split())))
source = open(sys.argv[1]).read().split("\n")
report = json.load(open("report.json"))
rows = {}
for row in report["accesses"]:
    line = int(re.search(r":(\d+)\)", row["entry"])[1])
    rows[re.search(r"/\* (\w+) \*/", source[line - 1])[1]] = row
assert set(rows) == set(NAMES), rows.keys()
for name, row in rows.items():
    assert row["instances"] == executed[name], (name, row, executed)
    assert row["recorded"] > 0, (name, row)
    assert row["writes"] == WRITES[name] and row["reads"] == 0, (name, row)
    print(name, row["instances"], row["recorded"])
assert rows["frequent"]["recorded"] < executed["frequent"], rows["frequent"]
END
done
