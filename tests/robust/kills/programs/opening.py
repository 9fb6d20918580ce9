#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""opening.py HOW CHILDREN QUALITY.json: checks the reported losses of children whose first event was
interrupted (opening.c).  A child whose handler jumped out is reported as not recorded; the others are
recorded.  Only with HOW = stall, events are lost because a thread was stopped for seconds."""
import json
import sys

how, children = sys.argv[1], int(sys.argv[2])
with open(sys.argv[3]) as file:
    rows = json.load(file)["quality"]
unrecorded = sum(row["count"] for row in rows if row["what"].startswith("process not recorded"))
jumped = sum(row["count"] for row in rows if "handler jumped out of the code that starts" in row["what"])
stalled = sum(row["count"] for row in rows if "stopped for seconds" in row["what"])
wrong = [row for row in rows if "a file could not be created" in row["what"] or "no room" in row["what"]]
expected = children if how == "jump" else 0
if wrong or unrecorded != expected or jumped != expected or (stalled > 0) != (how == "stall"):
    print(*rows, sep="\n")
    sys.exit(1)
