#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""flat_of_thread.py INDEX: "FUNCTION CALLS" of a thread, sorted, from `report --format json flat`."""
import json
import sys

rows = json.load(sys.stdin)["functions"]
print(*sorted(f"{row['name']} {row['calls']}" for row in rows
              if row["index"] == int(sys.argv[1]) and row["calls"] is not None), sep="\n")
