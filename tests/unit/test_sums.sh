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
    "locks": [{"name": "lock", "object": "0x1", "type": "mutex", "wait_ns": 30, "contended": 3, "sites": [
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
        {"name": "lock", "kind": "holder", "site": "f", "wait_ns": 25, "running_ns": 20, "runnable_ns": 2,
         "blocked_sync_ns": 3, "pid": 7, "image": 0, "object": "0x1", "generation": 1, "type": "mutex",
         "function": "unlock", "acquired": "f", "path": "f < main"},
        {"name": "lock", "kind": "hand-over", "site": None, "wait_ns": 5, "running_ns": None, "type": "mutex",
         "function": None, "acquired": None}],
    "blame_nested": [
        {"name": "lock", "site": "f", "pid": 7, "image": 0, "object": "0x1", "generation": 1, "function": "unlock",
         "acquired": "f", "path": "f < main", "nested_ns": ns} for ns in (2, 1)],
    "summary": [{"finding": [
        {"name": "lock", "type": "mutex", "function": "unlock", "site": "f", "acquired": "f", "objects": 1,
         "wait_ns": 25, "running_ns": 20, "runnable_ns": 2, "blocked_sync_ns": 3}]}],
    "blame_waiters": [{"name": "lock", "site": "g", "wait_ns": 30, "held_ns": 25, "called_ns": 0, "handed_over_ns": 0,
                       "unknown_ns": 5}],
    "blame_tree": [
        {"id": 1, "parent": None, "path": "main", "wait_ns": 30, "work_ns": 60, "self_wait_ns": 5, "self_work_ns": 60},
        {"id": 2, "parent": 1, "path": "main > f", "wait_ns": 25, "work_ns": None, "self_wait_ns": 25,
         "self_work_ns": None}],
    "bottlenecks": [{"apwt_ns": 20}, {"apwt_ns": 9}],
    "bottleneck_locks": [{"type": "mutex", "aplt_ns": 22, "nobody_ns": 9, "unended_ns": 1},
                         {"type": "barrier", "aplt_ns": 7, "nobody_ns": 0, "unended_ns": 0}],
    "blame_suspects": [{"kind": "holder", "wait_ns": 31}, {"kind": "correction", "wait_ns": -1}],
}
assert sums.mismatches(good) == [], sums.mismatches(good)


def differs(change, *words):
    report = copy.deepcopy(good)
    change(report)
    found = sums.mismatches(report)
    assert len(found) == len(words) and all(map(str.__contains__, found, words)), (words, found)


differs(lambda report: report["threads"][0].update(running_ns=61), "thread 7: its modes")
differs(lambda report: report["sync"][0].update(wait_ns=26), "waits by object: 30 ns",
        "waits by call path: 30 ns", "waits by cause: 30 ns", "waits in the tree of causes: 30 ns")
differs(lambda report: report["blame"][1].update(wait_ns=6), "waits by cause: 31 ns")
differs(lambda report: report["blame_suspects"][0].update(wait_ns=30), "by suspect: 29 ns")
differs(lambda report: report["blame_tree"][1].update(self_wait_ns=24), "main > f: wait 25 ns, its own 24 ns")
differs(lambda report: report["blame_tree"][0].update(wait_ns=31, self_wait_ns=6), "waits in the tree of causes: 31 ns")
differs(lambda report: report["blame"][0].update(running_ns=21), "blame of f for lock: 25 ns, by mode 26 ns")
differs(lambda report: report["blame_nested"][1].update(nested_ns=2), "of f for lock: blocked 3 ns, charged further 4 ns")
differs(lambda report: report["blame_nested"][1].update(path="f"), "of f for lock: blocked 3 ns, charged further 2 ns",
        "of f for lock: blocked 0 ns, charged further 1 ns")
differs(lambda report: report["blame_waiters"][0].update(held_ns=26), "waits at g for lock: 30 ns, by kind of cause 31")
differs(lambda report: report["bottleneck_locks"][0].update(nobody_ns=8), "waits by critical section: 29 ns, by lock: 30")
graph = {"edges": [{"kind": "direct", "wait_ns": 20}, {"kind": "nested", "wait_ns": 11}, {"kind": "barrier", "wait_ns": 7}]}
assert not list(sums.waits_by_edge(good, graph)), list(sums.waits_by_edge(good, graph))
graph["edges"][2]["kind"] = "direct"
assert len(list(sums.waits_by_edge(good, graph))) == 2
differs(lambda report: report["bottlenecks"][1].update(apwt_ns=8), "APWT of all critical sections: 28 ns, APLT of all")
differs(lambda report: report["locks"][0].update(contended=4), "contended 4, at its call sites 3")
differs(lambda report: report["locks"][0]["sites"][0]["holders"][1].update(wait_ns=9), "for its holders 21")
differs(lambda report: report["io"][0].update(wait_ns=5), "blocking calls by call path: 4 ns")
differs(lambda report: report["calltree"][1].update(cpu_ns=1), "main: cpu 60 ns", "main > f: cpu 1 ns")
differs(lambda report: report["calltree_threads"][0].update(cpu_ns=61), "thread 7: its times in and outside")


def finding(report):
    return report["summary"][0]["finding"][0]


differs(lambda report: finding(report).update(running_ns=21), "finding: 25 ns, by mode 26 ns")
differs(lambda report: finding(report).update(wait_ns=24, running_ns=19), "finding: 24 ns for lock, in blame 25 ns")
differs(lambda report: finding(report).update(site="g"), "finding: 25 ns for lock, in blame 0 ns")
differs(lambda report: report["summary"][0].update(finding=[]))
unmeasured = copy.deepcopy(good)
unmeasured["threads"][0]["running_ns"] = None
assert sums.mismatches(unmeasured) == []
END
