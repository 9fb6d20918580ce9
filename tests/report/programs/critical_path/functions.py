# SPDX-License-Identifier: MIT
"""functions.py REPORT LOG [SEGMENTS]: compares the critical path by function with the calls that relay.c
printed. SEGMENTS: the path as found by a witness; without it, all printed calls are on the path."""
import json
import sys
from collections import defaultdict

report = json.load(open(sys.argv[1]))
length = sum(r["path_ns"] for r in report["critical_threads"])
rows = {r["function"]: r for r in report["critical_functions"]}
segments = [tuple(map(int, line.split())) for line in open(sys.argv[3])] if len(sys.argv) > 3 else None


def on_path(tid, begin, end):
    if segments is None:
        return end - begin
    return sum(max(0, min(end, to) - max(begin, since)) for who, since, to in segments if who == tid)


calls = [line.split()[1:] for line in open(sys.argv[2]) if line.startswith("call ")]
calls = [(int(tid), function, int(begin), int(end)) for tid, function, begin, end in calls]
within, own = defaultdict(int), defaultdict(int)
for tid, function, begin, end in calls:
    share = on_path(tid, begin, end)
    within[function] += share
    own[function] += share
    # Calls are nested one deep.
    for other in calls:
        if other[0] == tid and begin < other[2] and other[3] <= end:
            own[function] -= on_path(tid, other[2], other[3])
bad = 0
assert len(calls) == 12, calls
for function in within:
    row = rows.get(function, {"self_ns": 0, "within_ns": 0})
    for key, ns in ("self_ns", own[function]), ("within_ns", within[function]):
        if abs(row[key] - ns) > 0.02 * length:
            print(f"FAIL: {key} of {function}: expected {ns} by its own clock, got {row[key]}, of {length}")
            bad += 1
for row in rows.values():
    parts = sum(row[f"{mode}_ns"] for mode in ("running", "runnable", "blocked", "unknown", "outside"))
    if row["self_ns"] != parts or row["within_ns"] < row["self_ns"]:
        print(f"FAIL: {row}")
        bad += 1
if sum(row["self_ns"] for row in rows.values()) != length:
    print(f"FAIL: expected {length} ns in all: {rows}")
    bad += 1
if rows.get("idle", {"within_ns": 0})["within_ns"] > 0.02 * length:
    print(f"FAIL: not on the path, but in the report: {rows['idle']}")
    bad += 1
print({function: row["self_ns"] for function, row in rows.items()}, "of", length)
sys.exit(bad > 0)
