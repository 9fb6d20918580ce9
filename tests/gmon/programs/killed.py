#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""killed.py CAPTURE BOUNDS REPORT: checks that the calls of `leaf`, in the calls files and in REPORT (from
`gprof-mt report --format json flat`), lie between the bounds in BOUNDS (lines of PID LOW HIGH), and that no
call is reported as lost. A child of fork that was killed early has no files of its own: only the report is
checked. The bounds differ by the number of callers that were in a call when the process was killed."""
import json
import os
import sys
from collections import Counter

import calls


def main():
    capture, bounds, report = sys.argv[1:]
    by_file, by_report, bad, n_counted = Counter(), Counter(), 0, 0
    with_files = set()
    for name in sorted(os.listdir(capture)):
        folder, pid = os.path.join(capture, name), name.split(".")[0]
        if not pid.isdigit():
            continue
        if calls.lost(folder):
            print(f"{name}: expected no lost calls, got {calls.lost(folder)}")
            bad += 1
        path = os.path.join(folder, "calls")
        maps = calls.Maps(folder) if os.path.exists(path) else None
        with_files.add(int(pid))
        for _, _, target, count in calls.arcs(path) if maps else ():
            by_file[int(pid)] += count if maps.name(target) == "leaf" else 0
    for function in json.load(open(report))["functions"]:
        by_report[function["pid"]] += function["calls"] if function["name"] == "leaf" else 0
    for line in open(bounds):
        pid, low, high = map(int, line.split())
        n_counted += low > 0
        for how, counted in ("calls file", by_file[pid]), ("report", by_report[pid]):
            if how == "calls file" and pid not in with_files:
                continue
            if not low <= counted <= high or high - low > 3:
                print(f"{pid}: expected {low} to {high} calls, {how} has {counted}")
                bad += 1
    if n_counted < 20:
        print(f"only {n_counted} processes were killed after their first counted call")
        bad += 1
    sys.exit(bad > 0)


main()
