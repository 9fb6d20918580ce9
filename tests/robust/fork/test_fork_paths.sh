#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The waits of children of fork have their call paths, also once readers have moved the children into a pack.
. "$GM_TOP/tests/robust/fork/common.sh"

need python3
children=40
build fork_waits -g
fresh "$gprof_mt" record -q --set kernel.source=none --set sync.mode=all -- ./fork_waits $children >out ||
	fail "fork_waits: $(cat out)"
[ -n "$(find gprof-mt.data -path '*packed.*' -name table)" ] || fail "no pack: $(find gprof-mt.data)"
for _ in 1 2; do
	"$gprof_mt" report quality >quality || fail "report quality"
	grep -q 'nothing lost, nothing contradictory' quality || fail "expected an empty section quality: $(cat quality)"
	"$gprof_mt" report --format json paths >paths.json || fail "report paths"
	python3 - $children <<'PY' || fail "$("$gprof_mt" report paths)"
import json, sys
table = json.load(open("paths.json"))
rows = [row for row in table["paths"] if row["function"] == "sem_timedwait"]
assert sum(row["calls"] for row in rows) == int(sys.argv[1]), rows
for row in rows:
    functions = [frame["site"].split()[0] for frame in row["frames"]]
    assert functions[:3] == ["waits", "child", "main"], functions
PY
done
