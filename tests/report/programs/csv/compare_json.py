# SPDX-License-Identifier: MIT
"""compare_json.py GPROF_MT CAPTURE SCRATCH_DIR: compares CSV, as Python's csv and sqlite3's .import read it,
with JSON: every table of every section, of the history and of the graphs, cell by cell, nested tables with
the keys of their outer rows. Prints the number of cells."""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys

gprof_mt, capture, scratch = sys.argv[1:]
cells = 0


def ask(*arguments):
    ran = subprocess.run([gprof_mt, *arguments, "-i", capture], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if ran.returncode:
        sys.exit("FAIL: %s: status %d, %s" % (arguments, ran.returncode, ran.stderr.decode()))
    return ran.stdout.decode(), ran.stderr.decode()


def field(value):
    """The CSV cell for a value in JSON."""
    if isinstance(value, str):
        value = re.sub(r"[\x00-\x1f\x7f]", "?", value)
        return "'" + value if value[:1] in ("=", "+", "-", "@", "'") and value else value
    return "" if value is None else {True: "true", False: "false"}[value] if isinstance(value, bool) else value


def same(found, value):
    if isinstance(value, float):
        return float(found) == value
    return found == str(value)


def flat(key, rows):
    """The table and all its nested tables, as (key, rows)."""
    nested = {}
    for number, row in enumerate(rows, 1):
        for name, value in row.items():
            if isinstance(value, list):
                outer = {key.split(".")[-1] + "_row": number}
                for k, v in row.items():
                    inherited = k in row.get("", ())
                    if not isinstance(v, list) and k != "":
                        outer[k if inherited else key.split(".")[-1] + "_" + k] = v
                nested.setdefault(key + "." + name, []).extend(
                    {**outer, **inner, "": tuple(outer)} for inner in value)
    yield key, rows
    for name, inner in nested.items():
        yield from flat(name, inner)


def compare(what, text, rows):
    global cells
    found = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if len(found) != len(rows) + 1:
        sys.exit("FAIL: %s: expected %d rows, got %d" % (what, len(rows), len(found) - 1))
    head = found[0]
    if len(set(head)) != len(head):
        sys.exit("FAIL: %s: duplicate columns: %s" % (what, head))
    for line, row in zip(found[1:], rows):
        # All columns of the row itself, and at least the number of each outer row.
        own = [k for k, v in row.items() if not isinstance(v, list) and k != "" and k not in row.get("", ())]
        missing = [k for k in own if k not in head]
        if missing or len(line) != len(head) or (row.get("") and head[0] != row[""][0]):
            sys.exit("FAIL: %s: columns %s of %s" % (what, missing, head))
        for name, value in zip(head, line):
            if not same(value, field(row[name])):
                sys.exit("FAIL: %s: %s: expected %r, got %r" % (what, name, row[name], value))
            cells += 1
    for quoted in re.findall(r'"(?:[^"]|"")*"', text):
        if quoted[1] in "=+-@":
            sys.exit("FAIL: %s: a formula: %s" % (what, quoted))
    return found


def by_sqlite(path, found):
    ran = subprocess.run(["sqlite3", ":memory:", ".import --csv %s t" % path, ".mode json", "select * from t"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    rows = json.loads(ran.stdout or "[]")
    if ran.stderr or [list(row.values()) for row in rows] != found[1:] or (rows and list(rows[0]) != found[0]):
        sys.exit("FAIL: sqlite3: %s: %s %s" % (path, ran.stderr.decode(), rows[:2]))


sections = re.findall(r"(?:^|  )[* ] ([a-z][a-z-]*)  ", ask("report", "--help")[0], re.M)
assert len(sections) > 9, sections
names = set()
for section in sections:
    report = json.loads(ask("report", "--format", "json", section)[0])
    directory = os.path.join(scratch, section)
    shutil.rmtree(directory, ignore_errors=True)
    out, err = ask("report", "--format", "csv", "--output", directory, section)
    for note in report["notes"]:
        if "gprof-mt: %s: %s\n" % (note["section"], note["note"]) not in err:
            sys.exit("FAIL: %s: a note is lost: %s in %s" % (section, note, err))
    tables = [t for key, rows in report.items() if key not in ("schema", "notes") for t in flat(key, rows)]
    files = set(os.listdir(directory))
    for number, (key, rows) in enumerate(tables):
        if key + ".csv" not in files:
            sys.exit("FAIL: %s: no %s.csv in %s" % (section, key, files))
        path = os.path.join(directory, key + ".csv")
        with open(path, newline="") as file:
            text = file.read()
        found = compare(path, text, rows)
        if section == "locks" and text != ask("report", "--format", "csv", "--table", key, section)[0]:
            sys.exit("FAIL: %s: --output and --table differ" % key)
        if number == 0 and text != ask("report", "--format", "csv", section)[0]:
            sys.exit("FAIL: %s: --output and the section alone differ" % key)
        if shutil.which("sqlite3"):
            by_sqlite(path, found)
        names.add(key)
    # JSON has nothing for a nested table without rows; CSV has its columns.
    keys = {key for key, rows in tables}
    for name in files - {key + ".csv" for key in keys}:
        with open(os.path.join(directory, name)) as file:
            lines = file.read().splitlines()
        if name.split(".")[0] not in keys or len(lines) != 1 or "_row," not in lines[0]:
            sys.exit("FAIL: %s: not in JSON: %s %s" % (section, name, lines))
    if out:
        sys.exit("FAIL: %s: %s" % (section, out))

history = json.loads(ask("history", "--format", "json")[0])
compare("history", ask("history", "--format", "csv")[0], list(flat("objects", history["objects"]))[1][1])
tid = history["objects"][0]["ops"][0]["tid"]
timeline = json.loads(ask("timeline", "--tid", str(tid), "--format", "json")[0])
compare("timeline", ask("timeline", "--tid", str(tid), "--format", "csv")[0], timeline["timeline"])
for kind in ("wait", "lock-order", "precedence"):
    graph = json.loads(ask("graph", "--kind", kind, "--format", "json")[0])
    compare(kind, ask("graph", "--kind", kind, "--format", "csv")[0], graph["edges"])
    compare(kind, ask("graph", "--kind", kind, "--format", "csv", "--table", "nodes")[0], graph["nodes"])
print(cells, "cells of", len(names), "tables")
if not {"threads", "sync", "locks", "locks.sites", "functions", "summary", "clock"} <= names:
    sys.exit("FAIL: only %s" % sorted(names))
