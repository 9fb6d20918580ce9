#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the browser has to show, from what the other commands print of the same capture.

expect.py plan HISTORY.json GRAPH.json    shell variables: where to look, and what comes of it
expect.py rows SCREEN HISTORY_TEXT NAME   the operations on the screen are those that `history` prints
expect.py tree CALLTREE.json ARROW        a line: where most time was spent, by call path
expect.py thread SCREEN THREADS.json TID  the times on the screen are those that `report` prints"""
import json
import re
import shlex
import sys


def duration(ns):
    if ns == 0:
        return "0"
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")):
        value = abs(ns) / unit
        if value >= 1 or (name != "ns" and value >= 0.9995):
            digits = 0 if name == "ns" else 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{value:.{digits}f} {name}"
    return f"{ns} ns"


def alone(objects, test):
    """The first object that passes the test and whose name is no part of another name."""
    for o in objects:
        if test(o) and sum(o["name"].lower() in other["name"].lower() for other in objects) == 1:
            return o
    sys.exit("no object to look at")


def plan(history, graph):
    objects = json.load(open(history))["objects"]
    barrier = alone(objects, lambda o: o["type"] == "barrier")
    mutex = alone(objects, lambda o: o["type"] == "mutex")
    waits = [i for i, op in enumerate(barrier["ops"]) if op["wait_ns"]]
    lock = next(i for i, op in enumerate(mutex["ops"]) if op["op"] == "mutex_lock")
    unlock = next(i for i, op in enumerate(mutex["ops"]) if i > lock and op["op"] == "mutex_unlock"
                  and op["tid"] == mutex["ops"][lock]["tid"])
    graph = json.load(open(graph))
    names = {node["tid"]: node["name"] for node in graph["nodes"]}
    edge = next(e for e in graph["edges"] if e["to"] is not None)
    line = f"{names[edge['from']]:<12} -> {names[edge['to']]:<12} {duration(edge['wait_ns']):>8}" \
           f" {edge['count']:>6} times, longest {duration(edge['wait_max_ns']):>8}"
    waiter = barrier["ops"][waits[0]]
    for name, value in (("n_objects", len(objects)), ("barrier", barrier["name"]),
                        ("n_barrier", len(barrier["ops"])), ("n_waits", len(waits)),
                        ("wait", waits[0] + 1), ("wait_line", f"waited {duration(waiter['wait_ns'])}"),
                        ("mutex", mutex["name"]), ("n_mutex", len(mutex["ops"])),
                        ("lock", lock + 1), ("unlock", unlock + 1), ("edge", line),
                        ("source", re.search(r"\((.*):(\d+)\)", waiter["site"]).group(2))):
        print(f"{name}={shlex.quote(str(value))}")


def tree(report, arrow):
    nodes = json.load(open(report))["calltree"]
    below = {}
    for node in nodes:
        below.setdefault(node["parent"], []).append(node)
    first = end = below[None][0]
    chain = [first["function"]]
    while len(below.get(end["id"], [])) == 1 and not end["self_wall_ns"] and not end["self_cpu_ns"]:
        end = below[end["id"]][0]
        chain.append(end["function"])
    times = [f"{duration(ns):>9}" for ns in (first["wall_ns"], first["cpu_ns"] or 0,
                                             first["wait_ns"] + first["blocking_ns"])]
    print(" ".join(times) + "  " + f" {arrow} ".join(chain))


def rows(screen, history, name):
    """Fields of `history` are separated by two blanks; those of the screen have fixed widths."""
    lines = open(screen).read().split("\n")
    wide = any(re.match(r" +time \(s\).* result ", line) for line in lines)
    widths = (12, 20, 20, 6, 8, 8, 18) if wide else (11, 12, 15, 7, 7, 9)
    first = next(i for i, line in enumerate(lines) if "time (s)" in line) + 1
    wanted = {}
    current = None
    for line in open(history):
        if line.strip() and not line.startswith(" "):
            current = line
        fields = re.split(r" {2,}", line.strip())
        if current and name in current and re.match(r"\d+\.\d+$", fields[0]):
            wanted[(fields[0], fields[2][:widths[1]], fields[3][:widths[2]])] = fields
    n = 0
    for line in lines[first:]:
        cells, at = [], 0
        for width in widths:
            cells.append(line[at:at + width].strip(" >"))
            at += width + 1
        if not re.match(r"\d+\.\d+$", cells[0]):
            break
        fields = wanted.get(tuple(cells[:3]))
        if not fields:
            sys.exit(f"not in the history: {line}")
        waited = fields[6] not in ("-", "0")
        if cells[4 if wide else 3] != (fields[6] if waited else ""):
            sys.exit(f"another wait than {fields}: {line}")
        if not fields[7].startswith(line[at:].strip()) or not line[at:].strip():
            sys.exit(f"another site than {fields}: {line}")
        n += 1
    if n < 3:
        sys.exit(f"only {n} operations")


def thread(screen, report, tid):
    text = re.sub(r"\n    ", " ", open(screen).read())
    row = next(t for t in json.load(open(report))["threads"] if str(t["tid"]) == tid)
    wanted = f"blocked {duration(row['blocked_sync_ns'])}"
    if row["running_ns"] is not None:
        wanted = f"running {duration(row['running_ns'])}, runnable {duration(row['runnable_ns'])}, {wanted}"
    if wanted not in text:
        sys.exit(f"'{wanted}' is not in:\n{text}")


{"plan": plan, "rows": rows, "thread": thread, "tree": tree}[sys.argv[1]](*sys.argv[2:])
