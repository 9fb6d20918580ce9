#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stalled.py MODE OUT REPORT.json POSTS: checks that each call and post of the thread in stalled.c, whose output
is OUT, is recorded or counted as lost for the right reason, and that all events of its last part are recorded.
POSTS: the posts in the trace."""
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
    if what == "synch-events whose call path was lost":  # of events that are lost, too
        continue
    if "seconds" not in why and "nothing can be recorded" not in why:
        sys.exit(f"expected only losses because of a stopped thread, found: {row}")
    if what.startswith("threads"):
        sys.exit(f"expected the thread to be recorded, found: {row}")
    lost[what.split()[0]] += row["count"]
print(mode, made, calls, lost, posts)
if calls["after"] != made["after"] or calls["before"] + lost["calls"] != made["before"]:
    sys.exit(f"expected {made['before']} calls of before, recorded or lost, and {made['after']} of after, "
             f"found {calls['before']} + {lost['calls']} and {calls['after']}")
if mode == "sync" and (posts < made["after"] or not made["posts"] <= posts + lost["synch-events"] <= made["posts"] + 9):
    sys.exit(f"expected {made['posts']} posts, recorded or lost, found {posts} + {lost['synch-events']}")
if lost["calls"] == 0 or (mode == "sync" and lost["synch-events"] == 0):
    sys.exit(f"expected lost events while a thread was stopped, found {lost}")
