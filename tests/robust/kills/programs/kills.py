#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kills.py BOUNDS CALLS LOCKS: checks for each line of BOUNDS (PID CALLS_LOW CALLS_HIGH LOCKS_LOW LOCKS_HIGH)
that the recorded calls of `leaf` (CALLS: report --format json flat) and the acquired mutexes (LOCKS: report
--format json locks) are within its bounds.  The bounds differ by at most 3, because each of three threads
may have been killed in the middle of one operation.  Prints the counts; exit status 1: events were lost or
invented, or too few processes were killed at work."""
import json
import sys
from collections import Counter


def main():
    calls, locks, bad, killed, total = Counter(), Counter(), 0, 0, [0, 0]
    for function in json.load(open(sys.argv[2]))["functions"]:
        calls[function["pid"]] += function["calls"] if function["name"] == "leaf" else 0
    for lock in json.load(open(sys.argv[3]))["locks"]:
        locks[lock["pid"]] += lock["acquired"] if lock["type"] == "mutex" else 0
    for line in open(sys.argv[1]):
        pid, *bounds = map(int, line.split())
        killed += bounds[0] > 0
        for i, (what, found) in enumerate((("calls", calls[pid]), ("locks", locks[pid]))):
            low, high = bounds[2 * i], bounds[2 * i + 1]
            total[i] += low
            if not low <= found <= high or high - low > 3:
                print(f"{pid}: expected {low} to {high} {what}, found {found}")
                bad += 1
    print(f"{killed} killed at work, {total[0]} calls, {total[1]} locks, {bad} wrong")
    sys.exit(bad > 0 or killed < 5)


main()
