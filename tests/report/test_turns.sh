#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Threads that take turns, each with a condition variable of its own that is never destroyed, wait for each other:
# that is not idle.  Workers, and the thread that gives them work and waits for them, are idle.
. "$GM_TOP/tests/lib.sh"

build turns -pthread
for mode in all contended; do
	fresh "$gprof_mt" record -q --set kernel.source=none --set sync.mode=$mode -- ./turns 50 || fail "$mode: exit status $?"
	"$gprof_mt" report --format json locks >report.json || fail "$mode: report"
	python3 - $mode <<'PY' || fail "$mode: see above"
import json, sys
conds = [lock for lock in json.load(open("report.json"))["locks"] if lock["type"] == "cond"]
names = {lock["name"]: lock for lock in conds}
turns = [lock for name, lock in names.items() if name.startswith("places")]
work = [lock for name, lock in names.items() if name.startswith("workers") or name == "done"]
print(sys.argv[1], {name: (lock["contended"], lock["idle"]) for name, lock in names.items()})
assert len(turns) == 4 and len(work) == 3, names.keys()
assert all(lock["contended"] >= 45 and lock["idle_ns"] == 0 for lock in turns), turns
assert all(lock["contended"] and lock["idle_ns"] == lock["wait_ns"] for lock in work), work
PY
done
