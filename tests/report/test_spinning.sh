#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Threads that spin on pthread_mutex_trylock(), pthread_spin_trylock(), pthread_rwlock_trywrlock() or
# sem_trywait(): the report's failed tries are those that the program counts, by object and call site, and the
# spins have their length and holder.  Spin locks and adaptive mutexes have waits with their holders.  So it is
# where everything is recorded and where only waits are.
. "$GM_TOP/tests/lib.sh"

build spinning
for mode in all contended; do
	fresh "$gprof_mt" record --set kernel.source=none --set sync.mode=$mode -- ./spinning 200 >out 2>record.txt ||
		fail "$mode: exit status $?"
	grep -q 'spinning for spun_' record.txt || fail "$mode: record names no lock: $(cat record.txt)"
	"$gprof_mt" report --format json summary locks sync quality >report.json || fail "$mode: report"
	python3 - $mode <<'PY' || fail "$mode: the tries are wrong"
import json, sys
mode = sys.argv[1]
counted = dict((name, int(n)) for name, n in (line.split() for line in open("out")))
report = json.load(open("report.json"))
assert not [p for p in report["quality"] if p["count"]], report["quality"]
locks = {lock["name"]: lock for lock in report["locks"]}
for name, n in counted.items():
    lock = locks[name]
    print(mode, name, "failed", lock["failed_tries"], "of", n, "spins", lock["spins"], "in", lock["spin_ns"], "ns")
    assert lock["failed_tries"] == n, (name, lock["failed_tries"], n)
    assert lock["contended"] == 0 and lock["wait_ns"] == 0, lock
    sites = [s for s in lock["sites"] if s["failed_tries"] is not None]
    for key in "failed_tries", "spins", "spin_ns":
        assert sum(s[key] for s in sites) == lock[key], (name, key)
    if name != "spun_sem":
        assert sum(h["spin_ns"] for s in sites for h in s["holders"]) == lock["spin_ns"], name
    if name == "tried_mutex":
        assert lock["spins"] == 0 and lock["spin_ns"] == 0, lock
    else:
        assert 1 <= lock["spins"] <= n and lock["spin_ns"] > 0, lock
        where = "take_" + name.removeprefix("spun_")
        holders = {h["site"] and h["site"].split(" ")[0].split("+")[0] for s in sites for h in s["holders"] if h["spin_ns"]}
        assert all(s["site"].startswith(where) for s in sites), sites
        if name != "spun_sem":
            assert holders <= {"main", where} and "main" in holders, (name, holders)
# These spin inside of the call: their waits have holders, and no try failed.
for name in "adaptive_mutex", "waited_lock":
    lock = locks[name]
    print(mode, name, "contended", lock["contended"], "in", lock["wait_ns"], "ns")
    assert lock["contended"] == 1 and lock["wait_ns"] > 0 and lock["failed_tries"] == 0, lock
    holders = [h for s in lock["sites"] for h in s["holders"]]
    assert [h["contended"] for h in holders] == [1] and holders[0]["site"].startswith("make_wait"), holders
calls = {}
for row in report["sync"]:
    calls[row["function"]] = calls.get(row["function"], 0) + row["calls"]
print(mode, calls)
# Tries that are only counted count once; 200 of each kind in each of two threads succeed.
assert calls["pthread_mutex_trylock"] == counted["spun_mutex"] + 800, calls
assert calls["pthread_spin_lock"] == 3 and calls["pthread_mutex_lock"] == 4, calls
assert calls["pthread_spin_trylock"] == counted["spun_lock"] + 400, calls
assert calls["pthread_rwlock_trywrlock"] == counted["spun_rwlock"] + 400, calls
assert calls["sem_trywait"] == counted["spun_sem"] + 400, calls
top = report["summary"][0]["top"]
assert any(t["name"].startswith("spun_") and t["spin_ns"] > 0 for t in top), top
PY
	"$gprof_mt" report locks >locks.txt || fail "$mode: report as text"
	grep -q '^Failed tries, by call site' locks.txt ||
		fail "$mode: the text has no table of failed tries: $(cat locks.txt)"
	! grep -q 'without the tries' locks.txt || fail "$mode: the text leaves tries out: $(cat locks.txt)"
done
exit 0
