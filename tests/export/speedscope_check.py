# SPDX-License-Identifier: MIT
"""speedscope_check.py GPROF_MT KIND...: compares what speedscope reads of each kind with the history of calls
or the folded stacks of the same capture. A profile belongs to one thread, or kind of cause, and has its name.
Callgrind's format has only callers and callees."""
import json
import os
import re
import subprocess
import sys

gprof_mt = sys.argv[1]
packages = os.path.join(os.environ["GM_BUILD"], "tests/export")
reader = os.path.join(os.environ["GM_TOP"], "tests/export/speedscope.js")


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout.decode()


def same(what, got, want):
    if got == want:
        return
    if isinstance(want, list):
        at = next((i for i, (g, w) in enumerate(zip(got, want)) if g != w), 0)
        got, want = got[at:at + 5], want[at:at + 5]
    sys.exit(f"{what}: speedscope has {str(got)[:1000]}\nnot {str(want)[:1000]}")


def read(format_, *words):
    run(gprof_mt, "export", "--format", format_, "-o", "profile." + format_, *words)
    return json.loads(run("node", reader, packages, "profile." + format_))


def tid(name):
    return name.split("(tid ")[1].split(",")[0]


def titles(tids):
    """The stacks of these threads."""
    threads = json.loads(run(gprof_mt, "report", "--format", "json", "threads"))["threads"]
    return {f"thread {t['index']} {t['name']} (tid {t['tid']}, process {t['pid']})" for t in threads if str(t["tid"]) in tids}


def in_time(thread):
    """Calls as [depth, name, start, end], since the first of them; speedscope omits those of length 0."""
    calls, open_ = [], []
    for line in json.loads(run(gprof_mt, "history", "--calls", "--tid", thread, "--format", "json"))["calls"]:
        if line["event"] in ("call", "leaf"):
            del open_[line["depth"]:]
            open_.append(len(calls))
            calls.append([line["depth"], line["function"], line["time_ns"], None])
            if line["event"] == "leaf":
                calls[-1][3] = line["time_ns"] + line["duration_ns"]
        elif line["event"] == "return":
            calls[open_[line["depth"]]][3] = line["time_ns"]
    first = calls[0][2]
    return [[depth, name, start - first, end - first] for depth, name, start, end in calls if start < end]


def time():
    profiles = read("speedscope")
    logs = {name[len("log."):] for name in os.listdir() if name.startswith("log.")}
    assert logs and len(profiles) == len(logs)
    same("threads", {p["name"] for p in profiles}, titles(logs))
    for profile in profiles:
        same("the unit", profile["unit"], "nanoseconds")
        same("time of " + profile["name"], profile["calls"], in_time(tid(profile["name"])))
    # Calls outside the selected time are omitted, and the rest adds up.
    whole = sum(p["total"] for p in profiles)
    parts = 0
    for part in "~2ms", "2ms~3ms", "3ms~":
        try:
            parts += sum(p["total"] for p in read("speedscope", "--time", part))
        except subprocess.CalledProcessError:
            pass
    assert 0 < parts <= whole, (parts, whole)


def stacks(kind):
    want = {}
    for line in run(gprof_mt, "export", "--format", "folded", "--what", kind, "-o", "-").splitlines():
        stack, number = line.rsplit(" ", 1)
        want[stack] = int(number)
    got = {f"{p['name']};{stack}": weight
           for p in read("speedscope", "--what", kind) for stack, weight in p["stacks"].items()}
    assert want
    same(kind, got, want)
    names = {stack.split(";")[0] for stack in want}
    if kind == "blame":
        assert all(re.fullmatch(r"\[(holder|caller|hand-over|idle|unknown: .*)\]", name) for name in names), names
    else:
        same("threads", names, titles({tid(name) for name in names}))
    [folded] = read("folded", "--what", kind)
    same("folded " + kind, folded["stacks"], want)


def callgrind():
    """speedscope descends from callers by inclusive costs; calls have only their number."""
    graph = json.loads(run(gprof_mt, "graph", "--kind", "calls", "--format", "json"))
    name = {node["id"]: node["name"] for node in graph["nodes"]}
    edges = {(name[e["from"]], name[e["to"]]) for e in graph["edges"]}
    profiles = read("callgrind")
    same("events", [p["name"].split(" -- ")[1] for p in profiles], ["Calls", "CpuNs"])
    for profile in profiles:
        for stack in profile["stacks"]:
            frames = stack.split(";")
            assert edges.issuperset(zip(frames, frames[1:])), (stack, edges)
    assert any(";" in stack for stack in profiles[0]["stacks"]), profiles


for what in sys.argv[2:]:
    time() if what == "time" else callgrind() if what == "callgrind" else stacks(what)
