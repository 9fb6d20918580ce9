# SPDX-License-Identifier: MIT
"""compare_reports.py GPROF_MT DIR_A DIR_B: derives the expected `gprof-mt diff` from the two reports.
Combines rows of the same names and compares every figure with diff's JSON and CSV. Prints the number of
figures."""
import csv
import io
import json
import subprocess
import sys
from collections import defaultdict

gprof_mt, *captures = sys.argv[1:]
KEYS = {
    "threads": ("group", "name"),
    "sync": ("group", "thread", "function"),
    "locks": ("group", "type"),
    "locks.sites": ("locks_group", "locks_type", "site", "function"),
    "functions": ("group", "thread", "name"),
    "arcs": ("group", "thread", "from", "to"),
    "summary": (),
}
IDS = {"pid", "image", "tid", "index", "object", "generation", "name", "address", "start_ns", "end_ns", "exit_status",
       "signal", "still_running", "command", "kernel_source", "kernel_why", "sync_recorded", "openmp", "io_most",
       "outside", "finding", "top", "sites", "holders", "locks_name", "sample_period_ns", "attached"}
NOT_ADDED = ("_mean_ns", "_p50_ns", "_p99_ns", "_pct", "functions_per_activity", "cpus_used")
SECTIONS = ("summary", "threads", "sync", "locks", "flat", "callgraph")


def run(*arguments):
    ran = subprocess.run([gprof_mt, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if ran.returncode:
        sys.exit("FAIL: %s: status %d, %s" % (arguments, ran.returncode, ran.stderr.decode()))
    return ran.stdout.decode()


def rows_of(report):
    for key in KEYS:
        if key == "locks.sites":
            yield key, [{**site, "locks_group": lock["group"], "locks_type": lock["type"]}
                        for lock in report["locks"] for site in lock["sites"]]
        else:
            yield key, report[key]


def together(key, rows):
    """Keys -> (number of rows, figures)."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[k] for k in KEYS[key])].append(row)
    taken = {}
    for names, same in groups.items():
        figures = {}
        for name in same[0]:
            values = [row[name] for row in same]
            if name in KEYS[key] or name in IDS:
                continue
            if None in values or (len(values) > 1 and name.endswith(NOT_ADDED)):
                figures[name] = None
            else:
                figures[name] = max(values) if name.endswith("_max_ns") else sum(values)
        taken[names] = len(same), figures
    return taken


def near(x, y):
    return x == y or (x is not None and y is not None and abs(x - y) <= 1e-9 * max(abs(x), abs(y)))


reports = [dict(rows_of(json.loads(run("report", "-i", c, "--format", "json", *SECTIONS)))) for c in captures]
diff = json.loads(run("diff", *captures, "--format", "json", *SECTIONS))
n = 0
for key in KEYS:
    a, b = (together(key, report[key]) for report in reports)
    found = {tuple(row[k] for k in KEYS[key]): row for row in diff[key]}
    if len(found) != len(diff[key]) or set(found) != set(a) | set(b):
        sys.exit("FAIL: %s: expected rows %s, got %s" % (key, sorted(map(str, set(a) | set(b))), sorted(map(str, found))))
    for names, row in found.items():
        (rows_a, of_a), (rows_b, of_b) = (side.get(names, (0, {})) for side in (a, b))
        where = "both" if rows_a and rows_b else "only A" if rows_a else "only B"
        if (row["rows_a"], row["rows_b"], row["in"]) != (rows_a, rows_b, where):
            sys.exit("FAIL: %s: %s: %s" % (key, names, row))
        for name in set(of_a) | set(of_b):
            va, vb = of_a.get(name), of_b.get(name)
            both = va is not None and vb is not None
            share = name.endswith(("_pct", "functions_per_activity", "cpus_used"))
            wanted = {"_a": va, "_b": vb, "_change": vb - va if both else None}
            if not share:
                wanted["_ratio"] = vb / va if both and va else None
            for part, value in wanted.items():
                if not near(row[name + part], value):
                    sys.exit("FAIL: %s: %s: %s is %s, not %s" % (key, names, name + part, row[name + part], value))
                n += 1
        extra = [k for k in row if k not in KEYS[key] and k not in ("in", "rows_a", "rows_b") and
                 k.rsplit("_", 1)[0] not in set(of_a) | set(of_b) | {"sample_period_ns"}]
        if extra:
            sys.exit("FAIL: %s: %s: not in the reports: %s" % (key, names, extra))
    table = list(csv.DictReader(io.StringIO(run("diff", *captures, "--format", "csv", "--table", key, *SECTIONS))))
    if [{k: "" if v is None else float(v) if isinstance(v, (int, float)) else v for k, v in row.items()}
            for row in diff[key]] != \
            [{k: float(v) if v and isinstance(row[k], (int, float)) else v for k, v in line.items()}
             for line, row in zip(table, diff[key])] or len(table) != len(diff[key]):
        sys.exit("FAIL: %s: CSV has other cells than JSON" % key)
print(n, "figures")
