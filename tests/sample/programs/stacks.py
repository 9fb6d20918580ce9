#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the timed samples of a capture.

stacks.py shares REPORT OUTPUT  callgraph in REPORT (JSON), of the capture gprof-mt.data: each thread of paths.c has
                                samples of both paths in the proportion of the CPU time that it measured, and as
                                many as that allows
stacks.py sums CAPTURE          the samples in the streams, as babeltrace2 reads them, and those that `report
                                quality` counts as missing there are those of the histograms; times increase, and
                                each path is defined before its use. Prints: samples, streams' files, paths,
                                samples without path of children that did little

A sample hits a path with the probability of its share of the time; the bounds are six sigma and a margin for the
distance between clock readings."""
import glob
import json
import math
import os
import re
import subprocess
import sys
from collections import defaultdict

import check

EVENT = re.compile(r"\[(\d+)\] (?:\(\d+\) )?(\w+): \{ tid = (\d+), index = (\d+) \}, \{ (.*) \}$")
FIRST_NODE = 16


def shares(report, output):
    arcs = json.load(open(report))["arcs"]
    functions = json.load(open(report))["functions"]
    lines = [list(map(int, line.split())) for line in open(output)]
    assert lines, "no threads"
    for tid, cpu, left, right in lines:
        calls = {(row["from"], row["to"]): row for row in arcs if row["tid"] == tid}
        assert all(row["calls"] is None for row in calls.values()), calls
        a = calls.get(("left", "leaf"), {"samples": 0})["samples"]
        b = calls.get(("right", "leaf"), {"samples": 0})["samples"]
        row = next(row for row in functions if row["tid"] == tid)
        period, _, late = check.threads(f"gprof-mt.data/{row['pid']}")
        due, p = cpu / period, left / (left + right)
        spread = 2 * (a + b) / max(a + b - late[row["index"]], 1) if late[row["index"]] else 1  # as in check.py
        check.near(f"thread {tid}: samples on the left", a, p * (a + b),
                   6 * math.sqrt((a + b) * p * (1 - p) * spread) + 0.02 * (a + b) + 1)
        # How many of them the kernel's timer misses on a busy machine is a matter of test_times.
        assert due / 10 <= a + b <= due + 2, f"thread {tid}: {a + b} samples of {due:.1f}"
        # Each of these calls is one of work(); some samples are in the callers themselves, all late ones perhaps.
        for side, n in ("left", a), ("right", b):
            check.near(f"thread {tid}: samples in {side}()", calls[("work", side)]["samples"], n,
                       0.05 * n + 2 + late[row["index"]])


def read(folder):
    """Returns the number of samples by index of the thread."""
    found, nodes, last = defaultdict(int), {}, defaultdict(int)
    run = subprocess.run(["babeltrace2", "--clock-cycles", "--no-delta", folder + "/samples"], capture_output=True,
                         text=True)
    # It warns of samples that were not written; their number is compared with that of the report.
    complaints = [line for line in run.stderr.splitlines() if "discarded" not in line]
    assert run.returncode == 0 and not complaints, run.stderr
    for line in run.stdout.splitlines():
        match = EVENT.match(line)
        assert match, line
        time, event, tid, index, fields = match.groups()
        values = [int(word, 0) for word in re.findall(r"= (0x[0-9A-F]+|\d+)", fields)]
        assert int(time) >= last[index], f"time goes back: {line}"
        last[index] = int(time)
        if event == "path":
            number, parent, address = values
            assert parent < FIRST_NODE or (parent in nodes), line
            assert number >= FIRST_NODE and address, line
            nodes[number] = parent
        else:
            assert event == "sample" and (values[0] in nodes or values[0] == 0) and values[1] > 0, line
            found[int(index)] += values[1]
    return found, len(nodes)


def sums(capture):
    gprof_mt = os.path.join(os.environ["GM_BUILD"], "gprof-mt")
    text = subprocess.run([gprof_mt, "report", "-i", capture, "--format", "json", "quality"], check=True,
                          capture_output=True, text=True).stdout
    report = json.loads(text)
    rows = report["quality"]
    little = [int(note["note"].split()[0]) for note in report["notes"] if "did too little" in note["note"]]
    n_all = n_nodes = n_files = n_little = 0
    for folder in glob.glob(os.path.join(capture, "[0-9]*")):
        if not os.path.exists(folder + "/calls"):
            continue
        counted = sum(sum(counts.values()) for counts in check.samples(folder).values())
        written, nodes = read(folder) if os.path.exists(folder + "/samples") else ({}, 0)
        missing = sum(row["count"] for row in rows if row["what"].startswith("samples without time and call path") and
                      row["where"] == os.path.basename(folder))
        if not missing:
            n_little += counted - sum(written.values())
        else:
            assert sum(written.values()) + missing == counted, (folder, dict(written), missing, counted)
        n_all += counted
        n_nodes += nodes
        n_files += len(glob.glob(folder + "/samples/stream_*"))
    assert not any("lack" in row["what"] for row in rows), rows
    assert n_little == sum(little), (n_little, little)
    print(n_all, n_files, n_nodes, n_little)


if __name__ == "__main__":
    {"shares": shares, "sums": sums}[sys.argv[1]](*sys.argv[2:])
