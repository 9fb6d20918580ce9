#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A mutex that holds workers back is first in record's lines, summary, locks and paths, before the longer
# waits for work, for the workers and for time. Idle waits are part of all sums, and the sums agree.
. "$GM_TOP/tests/lib.sh"

build idle -fno-omit-frame-pointer
for mode in all contended; do
	fresh "$gprof_mt" record --set kernel.source=none --set sync.mode=$mode -- ./idle 10 2>err ||
		fail "$mode: exit status $?"
	[[ $(grep -m 1 'waited' err) == *" for hot "* ]] || { cat err; fail "$mode: record's first line is not on hot"; }
	grep -q ': idle .* for work, other threads and time; longest ' err || { cat err; fail "$mode: no line on idle waits"; }
	"$gprof_mt" report --format json summary sync locks paths >report.json || fail "$mode: report"
	python3 - <<'PY' || fail "$mode: the figures are wrong"
import json
report = json.load(open("report.json"))
summary, locks, paths = report["summary"][0], report["locks"], report["paths"]
by_name = {lock["name"]: lock for lock in locks}
for name in "hot", "work", "all_done", "cleaner_timer":
    lock = by_name[name]
    print(name, "waits", lock["contended"], lock["wait_ns"], "idle", lock["idle"], lock["idle_ns"])
assert locks[0]["name"] == summary["top"][0]["name"] == paths[0]["name"] == "hot"
assert by_name["hot"]["idle_ns"] == 0
for name in "work", "all_done", "cleaner_timer":
    assert by_name[name]["contended"] and by_name[name]["idle_ns"] == by_name[name]["wait_ns"], by_name[name]
    assert by_name[name]["idle"] == by_name[name]["contended"], by_name[name]
assert by_name["work"]["wait_ns"] > by_name["hot"]["wait_ns"]
for lock in locks:
    for key in "wait_ns", "idle_ns", "idle", "contended":
        assert sum(site[key] for site in lock["sites"]) == lock[key], (lock["name"], key)
for key, whole in ("wait_ns", "sync_wait_ns"), ("idle_ns", "sync_idle_ns"):
    assert sum(lock[key] for lock in locks) == summary[whole], key
assert sum(row["wait_ns"] or 0 for row in report["sync"]) == summary["sync_wait_ns"]
PY
done
