#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every command that reads captures on the captures that tests have taken. tests/run -c starts it in
RESULTS/captures/readers; it writes what it has chosen to RESULTS/captures/counts. On all captures, it checks the
figures of the report against each other (sums.py).

Meant for a build with sanitizers (make check-san): fails on a sanitizer's report, a signal or a reader that does
not end. Captures with the same kinds of files, sources and settings are read once, the smallest of them.
"""

import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import sums

MAX_CAPTURES = 28  # three to five minutes on two CPUs
MIN_CAPTURES = 10  # are read on any machine; others only if the time allows it
BUDGET_S = 240
LIMIT_S = 120
REPORTS = re.compile(r"Sanitizer|runtime error:")
SETTINGS = re.compile(r"mode|sink|level|holds|paths")


def size(capture):
    return sum(file.lstat().st_size for file in capture.rglob("*"))


def settings(info):
    """Members of info.json that choose what is recorded, as text."""
    try:
        info = json.loads((info / "info.json").read_text())
        found = [str((info.get("kernel") or {}).get("source"))]
        for key, value in sorted((info.get("configuration") or {}).items()):
            if SETTINGS.search(key):
                found.append(f"{key}={value}")
        return found + sorted({str(loss.get("what")) for loss in info.get("losses") or []})
    except (OSError, ValueError, AttributeError, TypeError):
        return ["no info.json"]


def shape(capture):
    """The kinds of files, none, one or more of each, and the settings: captures with equal ones are alike."""
    kinds = collections.Counter()
    for file in capture.rglob("*"):
        name = re.sub(r"[0-9]+", "#", str(file.relative_to(capture)))
        kinds[name, file.is_symlink(), file.is_file() and file.stat().st_size == 0] += 1
    text = repr(sorted((kind, min(n, 2)) for kind, n in kinds.items())) + repr(settings(capture))
    return hashlib.sha256(text.encode()).hexdigest()


def tell(text):
    print(text, flush=True)
    with open("../counts", "a", encoding="utf-8") as file:
        print(text, file=file)


def kept(results):
    """The captures that the tests left, and the number of those that were too large to keep."""
    captures, n_large = [], 0
    for folder in sorted(results.rglob("*.captures")):
        large = folder / "large"
        n_large += len(large.read_text().splitlines()) if large.exists() else 0
        captures += [path for path in folder.iterdir() if path.is_dir()]
    return captures, n_large


def choose(captures, n_large):
    """The smallest capture of each shape, from as many tests as possible; and how many are left out, by reason."""
    shapes = {}
    for capture in sorted(captures, key=lambda path: (size(path), path)):
        shapes.setdefault(shape(capture), capture)
    by_test = collections.defaultdict(list)
    for capture in shapes.values():
        by_test[capture.parent].append(capture)
    chosen = []
    while by_test and len(chosen) < MAX_CAPTURES:
        for test in sorted(by_test):
            chosen.append(by_test[test].pop())
            if not by_test[test]:
                del by_test[test]
    chosen = chosen[:MAX_CAPTURES]
    tell(f"{len(captures)} captures of tests; {n_large} more are too large; {len(shapes)} differ in their kinds of "
          f"files or settings; {len(chosen)} of these are read, {len(shapes) - len(chosen)} left out for time")
    return chosen


def listed(program, command, heading):
    """Words that the help text of a command lists after its heading."""
    text = subprocess.run([program, command, "--help"], capture_output=True, text=True).stdout
    return text.split(heading, 1)[1].split("\nMore:")[0].lstrip("\n")


def commands(program):
    """All commands, with DIR, TID and OUT to be replaced."""
    sections = re.findall(r"(?:^|\s{2,})[* ] {0,2}([a-z][a-z-]+)(?=  )", listed(program, "report", "by default):"), re.M)
    found = [["report", "-i", "DIR", section] for section in sections]
    found += [["report", "-i", "DIR", "--format", "json", *sections],
              ["report", "-i", "DIR", "--format", "csv", "--output", "OUT/tables", *sections],
              ["report", "-i", "DIR", "--time", "1ms~", "--tid", "TID"],
              ["diff", "DIR", "DIR", *sections], ["diff", "--format", "json", "DIR", "DIR"],
              ["history", "-i", "DIR"], ["history", "-i", "DIR", "--format", "json"],
              ["history", "-i", "DIR", "--calls", "--tid", "TID"],
              ["timeline", "-i", "DIR", "--tid", "TID"], ["timeline", "-i", "DIR", "--tid", "TID", "--format", "csv"]]
    for kind in re.findall(r"^  ([a-z-]+)  ", listed(program, "graph", "kinds:"), re.M):
        found += [["graph", "-i", "DIR", "--kind", kind],
                  ["graph", "-i", "DIR", "--kind", kind, "--group", "--format", "json"]]
    for line in listed(program, "export", "selects:").splitlines():
        name, text = line.split(None, 1)
        output = ["-o", f"OUT/{name}"]
        found.append(["export", "-i", "DIR", "--format", name, *output])
        for what in text.split(": ")[1].split(", ") if ": " in text else []:
            found.append(["export", "-i", "DIR", "--format", name, "--what", what, "-o", f"OUT/{name}-{what}"])
    if len(sections) < 10 or len(found) < 40:
        sys.exit(f"the help texts list too little: {found}")
    return found


def a_thread(capture):
    for folder in sorted(capture.iterdir()):
        if re.fullmatch(r"[0-9]+(\.[0-9]+)?", folder.name):
            return folder.name.split(".")[0]
    return "1"


def failure(arguments):
    """Text about a command that failed in a way that it must not; else None."""
    try:
        run = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return f"{' '.join(arguments)}: not ended after {LIMIT_S} s"
    error = run.stderr.decode(errors="replace")
    if run.returncode in (0, 1, 2) and not REPORTS.search(error):
        return None
    return f"{' '.join(arguments)}: status {run.returncode}: {error[:3000]}"


def read_all(program, capture, todo):
    with tempfile.TemporaryDirectory() as out:
        replaced = {"DIR": str(capture), "TID": a_thread(capture)}
        for command in todo:
            words = [replaced.get(word, word.replace("OUT/", out + "/")) for word in command]
            text = failure([program, *words])
            if text:
                return text
    return None


def blame_of_stacks(program, capture, waits):
    """The time in the stacks of `export --what blame` is that of all waits."""
    run = subprocess.run([program, "export", "-i", str(capture), "--format", "folded", "--what", "blame", "-o", "-"],
                         stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, text=True)
    total = sum(int(line.rsplit(" ", 1)[1]) for line in run.stdout.splitlines())
    return [] if total == waits else [f"stacks of blame: {total} ns, waits {waits} ns: {run.stderr[:300]}"]


def dependence_edges(program, capture, report):
    """The edges of `graph --kind sydg` have the waits of `bottlenecks`."""
    if "bottleneck_locks" not in report:
        return []
    run = subprocess.run([program, "graph", "-i", str(capture), "--kind", "sydg", "--format", "json"],
                         stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
    return list(sums.waits_by_edge(report, json.loads(run.stdout))) if run.stdout else []


def check_sums(program, captures, chosen, pool):
    """Returns texts about the captures whose figures contradict each other."""
    def check(capture):
        try:
            run = subprocess.run([program, "report", "-i", str(capture), "--format", "json", "summary", "threads",
                                  "sync", "locks", "io", "calltree", "blame", "blame-tree", "bottlenecks"],
                                 stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
            report = json.loads(run.stdout)
        except (ValueError, subprocess.TimeoutExpired):
            return None  # a damaged capture; the commands below look at such
        lines = sums.mismatches(report)
        if capture in chosen:
            lines += blame_of_stacks(program, capture, sums.add(report["locks"], "wait_ns"))
            lines += dependence_edges(program, capture, report)
        return [f"{capture}: {line}" for line in lines]

    found = [lines for lines in pool.map(check, captures) if lines is not None]
    tell(f"the sums of {len(found)} captures were checked")
    if not found and len(captures) >= MIN_CAPTURES:
        return ["no capture has a report"]
    return [line for lines in found for line in lines]


def main():
    program, results = os.environ["GM_BUILD"] + "/gprof-mt", pathlib.Path("../..").resolve()
    captures, n_large = kept(results)
    chosen = choose(captures, n_large)
    todo = commands(program)
    tell(f"{len(todo)} commands on each: all sections, kinds of graphs, exports, histories and differences")
    if not chosen:
        print("no test has left a capture")
        sys.exit(77)
    late = []

    def read_in_time(at, capture):
        if at >= MIN_CAPTURES and time.monotonic() > deadline:
            late.append(capture)
            return None
        return read_all(program, capture, todo)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = check_sums(program, captures, set(chosen), pool)
        deadline = time.monotonic() + BUDGET_S
        failures += [text for text in pool.map(read_in_time, range(len(chosen)), chosen) if text]
    if late:
        tell(f"{len(late)} of the {len(chosen)} were not read: {BUDGET_S} s were over")
    for text in failures:
        print(f"FAIL: {text}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
