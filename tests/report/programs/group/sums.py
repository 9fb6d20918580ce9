#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: sums.py ALL.json GROUPED.json

Each row of a grouped table has the number of the group's threads, and the sums and maxima of their rows."""
import collections
import json
import sys

MAXIMA = {"wait_max_ns", "most_per_activity", "sample_period_ns"}
SHARES = {"path_pct"}
PAIRS = ("from_group", "to_group")


def is_figure(key, value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and key.endswith(
        ("_ns", "calls", "blocked", "samples", "self_s", "count", "path_pct", "voluntary", "activities"))


def check(name, rows, groups):
    if not groups:
        sys.exit(f"{name}: no groups")
    keys = [k for k in ("group", "function", "name", "from", "to") + PAIRS if k in groups[0]]
    of = collections.defaultdict(list)
    for row in rows:
        of[tuple(row[k] for k in keys)].append(row)
    if len(of) != len(groups):
        sys.exit(f"{name}: {len(groups)} groups, expected {len(of)}")
    figures = 0
    for group in groups:
        mine = of[tuple(group[k] for k in keys)]
        count = len({(r["pid"], r["index"]) for r in mine}) if "group" in group else len(mine)
        if group["threads" if "group" in group else "pairs"] != count:
            sys.exit(f"{name}: {group}: expected {count} threads")
        for key, value in group.items():
            if key not in mine[0]:
                continue
            values = [r[key] for r in mine]
            if not is_figure(key, value) or None in values:
                continue
            expected = max(values) if key in MAXIMA else sum(values)
            if abs(expected - value) > 1e-6 * abs(expected):
                sys.exit(f"{name}: {key} of {group} is {value}, expected {expected}")
            figures += 1
            least, most = group.get("least_" + key), group.get("most_" + key)
            if least is not None and (least, most) != (min(values), max(values)):
                sys.exit(f"{name}: {key} from {least} to {most}, expected {min(values)} to {max(values)}")
    if figures == 0:
        sys.exit(f"{name}: no figures")


with open(sys.argv[1]) as one, open(sys.argv[2]) as two:
    everything, grouped = json.load(one), json.load(two)
for table in sys.argv[3:]:
    check(table, everything[table], grouped[table])
