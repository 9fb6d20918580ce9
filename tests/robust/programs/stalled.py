#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stalled.py MODE OUT REPORT.json POSTS: is all that a thread did (stalled.c, which printed OUT) recorded or
reported as lost, for the true reason, and all that it did in the end recorded?  POSTS: of the trace."""
import json
import sys

mode, posts = sys.argv[1], int(sys.argv[4])
with open(sys.argv[2]) as file:
    made = {word: int(n) for word, n in (line.split() for line in file)}
with open(sys.argv[3]) as file:
    report = json.load(file)
calls = {name: sum(row["calls"] or 0 for row in report["functions"] if row["name"] == name)
         for name in ("before", "after")}
lost = {"calls": 0, "synch-events": 0}
for row in report["quality"]:
    what, _, why = row["what"].partition(": ")
    if "seconds" not in why and "no system call" not in why:
        sys.exit(f"another loss: {row}")
    if what.startswith("threads"):
        sys.exit(f"the thread is not recorded: {row}")
    lost[what.split()[0]] += row["count"]
print(mode, made, calls, lost, posts)
if calls["after"] != made["after"] or calls["before"] + lost["calls"] != made["before"]:
    sys.exit("calls")
if mode == "sync" and (posts < made["after"] or not made["posts"] <= posts + lost["synch-events"] <= made["posts"] + 9):
    sys.exit("posts")
if lost["calls"] == 0 or (mode == "sync" and lost["synch-events"] == 0):
    sys.exit("nothing was stalled")
