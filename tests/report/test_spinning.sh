#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Threads that spin on pthread_mutex_trylock(), pthread_spin_trylock() or pthread_rwlock_trywrlock(): the
# report's failed tries are those that the program counts, and the spins have their length and holder.
. "$GM_TOP/tests/lib.sh"

build spinning
fresh "$gprof_mt" record -q --set kernel.source=none --set sync.mode=all -- ./spinning 500 >out ||
	fail "exit status $?"
"$gprof_mt" report --format json summary locks quality >report.json || fail "report"
python3 - <<'PY' || fail "the tries are wrong"
import json
counted = dict((name, int(n)) for name, n in (line.split() for line in open("out")))
report = json.load(open("report.json"))
assert not [p for p in report["quality"] if p["count"]], report["quality"]
locks = {lock["name"]: lock for lock in report["locks"]}
for name, n in counted.items():
    lock = locks[name]
    print(name, "failed", lock["failed_tries"], "of", n, "spins", lock["spins"], "in", lock["spin_ns"], "ns")
    assert lock["failed_tries"] == n, (name, lock["failed_tries"], n)
    assert lock["contended"] == 0 and lock["wait_ns"] == 0, lock
    sites = [s for s in lock["sites"] if s["failed_tries"] is not None]
    for key in "failed_tries", "spins", "spin_ns":
        assert sum(s[key] for s in sites) == lock[key], (name, key)
    assert sum(h["spin_ns"] for s in sites for h in s["holders"]) == lock["spin_ns"], name
    if name == "tried_mutex":
        assert lock["spins"] == 0 and lock["spin_ns"] == 0, lock
    else:
        assert 1 <= lock["spins"] <= n and lock["spin_ns"] > 0, lock
        where = "take_" + name.removeprefix("spun_")
        # Another thread's acquisition may have a later time than the try that it made fail: no holder then.
        holders = {h["site"].split(" ")[0] for s in sites for h in s["holders"] if h["spin_ns"] and h["site"]}
        assert all(s["site"].startswith(where) for s in sites), sites
        assert holders <= {"main", where} and "main" in holders, (name, holders)
top = report["summary"][0]["top"]
assert top[0]["name"].startswith("spun_") and top[0]["spin_ns"] > 0, top
PY
"$gprof_mt" report locks >locks.txt || fail "report as text"
grep -q '^Failed tries, by call site' locks.txt || fail "the text has no table of failed tries: $(cat locks.txt)"
exit 0
