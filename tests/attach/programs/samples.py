# SPDX-License-Identifier: MIT
"""samples.py REPORT N_CPUS: checks the samples of `sampled` in the report (JSON).

The kernel's own account of each thread's CPU time was taken four times, two within the recording and two around it:
outer.begin, inner.begin, inner.end, outer.end, with lines of a tid, a name and nanoseconds. A sample stands for 10 ms.
Each CPU has a timer of its own for each thread, which may have a part of a period left."""
import json
import os
import sys

PERIOD_NS = 10_000_000
PATHS = {"user": "user > middle > inner", "kernel": "kernel > ask", "plugin": "plugin > compute"}
report, n_cpus = json.load(open(sys.argv[1])), int(sys.argv[2])


def account(path):
    if not os.path.exists(path):
        return {}
    return {name: int(ns) for _, name, ns in map(str.split, open(path))}


outer_begin, inner_begin, inner_end, outer_end = map(
    account, ("outer.begin", "inner.begin", "inner.end", "outer.end"))
failures = []
for name, path in PATHS.items():
    found = sum(row["samples"] for row in report["calltree"] if row["path"].endswith(path))
    least = (inner_end.get(name, 0) - inner_begin.get(name, 0)) / PERIOD_NS - n_cpus
    most = (outer_end.get(name, 0) - outer_begin.get(name, 0)) / PERIOD_NS + n_cpus
    print(f"{name}: {found} samples, expected {least:.1f} to {most:.1f}")
    if not least <= found <= most or not found:
        failures.append(name)
if failures:
    sys.exit(f"{failures}: {[(row['path'], row['samples']) for row in report['calltree']]}")
