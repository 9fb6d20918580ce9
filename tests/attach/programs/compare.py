#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py PID SOURCE: compares report.json with the kernel's account before, in and after the recording.

The recording contains the time between the inner witnesses, and lies between the outer ones.  The kernel adds CPU time
to its account at a switch or a tick, with the work of the switch before the event of it."""
import json
import sys

TICK_NS, SWITCH_NS = 10_000_000, 10_000
OLD = {"known", "spinner", "sleeper", "ping", "pong", "maker"}
pid, source = int(sys.argv[1]), sys.argv[2]
failed = []


def witness(name):
    with open(name) as file:
        return {int(tid): (comm, int(run), int(voluntary), int(involuntary))
                for tid, comm, run, voluntary, involuntary in map(str.split, file)}


def between(what, low, value, high):
    if value is None or not low <= value <= high:
        failed.append(f"{what}: expected {low} to {high}, got {value}")


outer, inner = [[witness(f"{kind}.{at}") for at in ("begin", "end")] for kind in ("outer", "inner")]
with open("report.json") as file:
    report = json.load(file)
rows = report["threads"]
old = [row for row in rows if row["tid"] in inner[0]]
begin = min(row["start_ns"] for row in rows)
end = max(row["end_ns"] for row in rows)

if {row["name"] for row in old} != OLD:
    failed.append(f"names: {[row['name'] for row in old]}")
if not any(row["name"] == "short" and row["start_ns"] > begin for row in rows):
    failed.append("no thread that began later")
for row in old:
    tid, name = row["tid"], row["name"]
    switch_ns = (row["switches_voluntary"] + row["switches_involuntary"]) * SWITCH_NS
    for column, key, slack, more in ((1, "running_ns", TICK_NS, switch_ns), (2, "switches_voluntary", 0, 0),
                                     (3, "switches_involuntary", 0, 0)):
        least = inner[1][tid][column] - inner[0][tid][column] - slack - more
        most = outer[1][tid][column] - outer[0][tid][column] + slack
        between(f"{key} of {name}", least, row[key], most)
    between(f"pid of {name}", pid, row["pid"], pid)
    between(f"start of {name}", begin, row["start_ns"], begin)
    between(f"unknown time of {name}", 0, row["unknown_ns"], 0)
    between(f"lifetime of {name}", end - begin, row["end_ns"] - row["start_ns"], end - begin)
    if name in ("known", "sleeper"):
        between(f"running time of {name}", 0, row["running_ns"], 0)
        between(f"sleep of {name}", end - begin, row["blocked_other_ns"], end - begin)
    if name == "spinner":
        between(f"sleep of {name}", 0, row["blocked_other_ns"], 0)
    if source == "switches" and row["blocked_io_ns"] is not None:
        failed.append("I/O is told apart without a source that does")
print(*failed, sep="\n")
sys.exit(1 if failed else 0)
