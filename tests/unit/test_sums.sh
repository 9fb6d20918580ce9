#!/bin/bash
# SPDX-License-Identifier: MIT
# captures/sums.py finds figures that contradict each other, and accepts those that agree.
. "$GM_TOP/tests/lib.sh"
need python3
PYTHONPATH=$GM_TOP/tests/captures python3 - <<'END' || exit 1
import copy
import sums

good = {
    "threads": [{"tid": 7, "lifetime_ns": 100, "running_ns": 60, "runnable_ns": 10, "blocked_sync_ns": 30}],
    "sync": [{"wait_ns": 25}, {"wait_ns": 5}],
    "locks": [{"name": "lock", "object": "0x1", "wait_ns": 30, "contended": 3, "sites": [
        {"site": "f", "wait_ns": 20, "contended": 2, "holders": [{"wait_ns": 12}, {"wait_ns": 8}]},
        {"site": "g", "wait_ns": 10, "contended": 1}]}],
    "io": [{"wait_ns": 4}],
    "calltree": [
        {"id": 1, "parent": None, "path": "main", "wall_ns": 94, "cpu_ns": 60, "wait_ns": 30, "blocking_ns": 4,
         "self_wall_ns": 64, "self_cpu_ns": 60, "self_wait_ns": 0, "self_blocking_ns": 4},
        {"id": 2, "parent": 1, "path": "main > f", "wall_ns": 30, "cpu_ns": 0, "wait_ns": 30, "blocking_ns": 0,
         "self_wall_ns": 30, "self_cpu_ns": 0, "self_wait_ns": 30, "self_blocking_ns": 0}],
    "calltree_threads": [{"tid": 7, "lifetime_ns": 100, "wait_ns": 30, "blocking_ns": 0, "cpu_ns": 60,
                          "unsampled_ns": 0, "runnable_ns": 10, "blocked_ns": 0, "unknown_ns": 0}],
    "blame": [
        {"name": "lock", "site": "f", "wait_ns": 25, "running_ns": 20, "runnable_ns": 5},
        {"name": "lock", "site": None, "wait_ns": 5, "running_ns": None}],
    "blame_waiters": [{"name": "lock", "site": "g", "wait_ns": 30, "held_ns": 25, "called_ns": 0, "handed_over_ns": 0,
                       "unknown_ns": 5}],
}
assert sums.mismatches(good) == [], sums.mismatches(good)


def differs(change, *words):
    report = copy.deepcopy(good)
    change(report)
    found = sums.mismatches(report)
    assert len(found) == len(words) and all(map(str.__contains__, found, words)), (words, found)


differs(lambda report: report["threads"][0].update(running_ns=61), "thread 7: its modes")
differs(lambda report: report["sync"][0].update(wait_ns=26), "waits by object: 30 ns",
        "waits by call path: 30 ns", "waits by cause: 30 ns")
differs(lambda report: report["blame"][1].update(wait_ns=6), "waits by cause: 31 ns")
differs(lambda report: report["blame"][0].update(running_ns=21), "blame of f for lock: 25 ns, by mode 26 ns")
differs(lambda report: report["blame_waiters"][0].update(held_ns=26), "waits at g for lock: 30 ns, by kind of cause 31")
differs(lambda report: report["locks"][0].update(contended=4), "contended 4, at its call sites 3")
differs(lambda report: report["locks"][0]["sites"][0]["holders"][1].update(wait_ns=9), "for its holders 21")
differs(lambda report: report["io"][0].update(wait_ns=5), "blocking calls by call path: 4 ns")
differs(lambda report: report["calltree"][1].update(cpu_ns=1), "main: cpu 60 ns", "main > f: cpu 1 ns")
differs(lambda report: report["calltree_threads"][0].update(cpu_ns=61), "thread 7: its times in and outside")
unmeasured = copy.deepcopy(good)
unmeasured["threads"][0]["running_ns"] = None
assert sums.mismatches(unmeasured) == []
END
