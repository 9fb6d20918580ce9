#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A wait for a lock whose holder is not known has a reason: here a thread of another process held a mutex in
# shared memory.
. "$GM_TOP/tests/lib.sh"

build other_process
for mode in all contended auto; do
	fresh "$gprof_mt" record -q --set kernel.source=none --set sync.mode=$mode -- ./other_process ||
		fail "$mode: exit status $?"
	"$gprof_mt" report --format json locks >report.json || fail "$mode: report"
	python3 - <<'PY' || fail "$mode: the reasons are wrong"
import json
report = json.load(open("report.json"))
holders = [h for l in report["locks"] for s in l["sites"] for h in s["holders"] if h["contended"]]
n = sum(h["contended"] for h in holders)
print(n, "waits", holders)
assert n >= 1, holders
assert all(h["site"] is None and h["why"] == "a thread of another process" for h in holders), holders
assert any(f"{n} of {n} waits for locks" in note["note"] for note in report["notes"]), report["notes"]
PY
done
