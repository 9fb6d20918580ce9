# SPDX-License-Identifier: MIT
"""pprof_check.py GPROF_MT [SELECTION...]: compares the output of pprof (-top, -peek, -tree, -tags) for a profile
with the reports and folded stacks of the same capture."""
import collections
import json
import re
import subprocess
import sys

gprof_mt, *selection = sys.argv[1:]
ALL = "-nodecount=1000000 -nodefraction=0 -edgefraction=0 -unit=ns".split()


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout.decode()


def report(*words):
    return json.loads(run(gprof_mt, *words, "--format", "json", *selection))


def pprof(*words):
    return run("go", "tool", "pprof", *ALL, *words, "gprof-mt.pb.gz").splitlines()


def same(what, got, want):
    got, want = ({k: v for k, v in d.items() if v} for d in (got, want))
    if got != want:
        sys.exit(f"{what}: expected the same in pprof and in the report, but only pprof has "
                 f"{sorted((got.items() - want.items()))[:10]}\n"
                 f"only the report has {sorted((want.items() - got.items()))[:10]}")


def number(text):
    return int(text[:-2]) if text.endswith("ns") else int(text)


def plain(name):
    """Maps code without a name to "?": reports have one entry per file, profiles one per address."""
    return "?" if name.startswith("<") or re.search(r"0x[0-9a-f]+$", name) else name


def summed(pairs):
    sums = collections.Counter()
    for key, value in pairs:
        sums[key] += value
    return sums


def top(kind):
    """Returns the flat and the cumulative values by function."""
    rows = [line.split(None, 5) for line in pprof("-top", "-sample_index=" + kind)]
    at = next(i for i, row in enumerate(rows) if row[:2] == ["flat", "flat%"])
    rows = rows[at + 1:]
    return (summed((plain(r[5]), number(r[0])) for r in rows), summed((plain(r[5]), number(r[3])) for r in rows))


def edges(*words):
    """Returns the edges to callers, listed above a function, and to callees, listed below it."""
    above, below, callers, callees, name = collections.Counter(), collections.Counter(), [], [], None
    for line in pprof(*words) + ["---"]:
        edge = re.fullmatch(r" *([0-9]+(?:ns)?) +[0-9.]+% \|   (.*)", line)
        function = re.fullmatch(r" *[0-9]+\S* +\S+ +\S+ +\S+ +\S+ +\| (.*)", line)
        if edge:
            (callees if name else callers).append((plain(edge[2]), number(edge[1])))
        elif function:
            name = plain(function[1])
        elif line.startswith("---"):
            for other, value in callers if name else []:
                above[other, name] += value
            for other, value in callees:
                below[name, other] += value
            callers, callees, name = [], [], None
    return above, below


def tags(kind):
    found = collections.defaultdict(collections.Counter)
    for line in pprof("-tags", "-sample_index=" + kind):
        key = re.fullmatch(r" (\w+): Total .*", line)
        value = re.fullmatch(r" +([0-9]+)(?:\.0)?(?:ns)? *(?:\([ 0-9.]+%\))?: (.*)", line)
        assert key or value or not line.strip(), line
        if key:
            of = found[key[1]]
        elif value:
            of[value[2]] += int(value[1])
    return found


def by_thread(kind):
    return summed((int(re.search(r"\(tid (\d+),", title)[1]), value) for title, value in tags(kind)["thread"].items())


def of_flat():
    flat = report("report", "flat")["functions"]
    calls = [(row["tid"], plain(row["name"]), row["calls"] or 0) for row in flat]
    cpu = [(row["tid"], plain(row["name"]), (row["samples"] or 0) * (row["sample_period_ns"] or 0)) for row in flat]
    for kind, rows in ("calls", calls), ("cpu", cpu):
        same(kind, top(kind)[0], summed((name, value) for _, name, value in rows))
        same(kind + " of threads", by_thread(kind), summed((tid, value) for tid, _, value in rows))
    graph = report("graph", "--kind", "calls")
    name = {node["id"]: plain(node["name"]) for node in graph["nodes"]}
    got, below = edges("-tree", "-sample_index=calls")
    same("callees", below, got)
    # gprof's graph omits callers without a name.
    same("callers", {k: v for k, v in got.items() if k[0] != "?"},
         summed(((name[e["from"]], name[e["to"]]), e["count"]) for e in graph["edges"]))
    return any(value for *_, value in cpu)


def of_blocked():
    blocked = collections.Counter({t["tid"]: t["blocked_sync_ns"] for t in report("report", "threads")["threads"]})
    # Blocking calls have no object here.
    calls = {row["call"] for row in report("report", "io")["io"]}
    assert sum(tags("off-cpu")["object"].values()) == sum(blocked.values())
    for row in report("report", "calltree")["calltree_threads"]:
        blocked[row["tid"]] += row["blocking_ns"]
    same("blocked", by_thread("off-cpu"), blocked)
    if not any(blocked.values()):
        return
    stacks = []
    for line in run(gprof_mt, "export", "--format", "folded", "--what", "off-cpu", "--no-threads", "-o", "-",
                    *selection).splitlines():
        stack, ns = line.rsplit(" ", 1)
        frames = stack.split(";")
        # The last frame of a wait is the object, which is a tag in pprof.
        stacks.append((frames if frames[-1] in calls else frames[:-1], int(ns)))
    flat, whole = top("off-cpu")
    same("operations", flat, summed((stack[-1], ns) for stack, ns in stacks))
    same("off-cpu", whole, summed((plain(name), ns) for stack, ns in stacks for name in set(stack)))
    for name in {stack[-2] for stack, _ in stacks}:
        above, below = edges("-peek", f"^{re.escape(name)}$", "-sample_index=off-cpu")
        same("peek at " + name, above | below,
             summed((pair, ns) for stack, ns in stacks for pair in zip(stack, stack[1:]) if name in pair))


def of_blame():
    """By kind of cause, a label; and by function, of paths in folded stacks without kind and object."""
    kinds = collections.Counter()
    for row in report("report", "blame")["blame"]:
        kinds[row["kind"]] += row["wait_ns"] - row["idle_ns"]
        kinds["idle"] += row["idle_ns"]
    same("causes", tags("blame")["cause"], kinds)
    if not any(kinds.values()):
        return
    whole = collections.Counter()
    for line in run(gprof_mt, "export", "--format", "folded", "--what", "blame", "-o", "-", *selection).splitlines():
        stack, ns = line.rsplit(" ", 1)
        frames = stack.split(";")
        for name in set(frames[1:-1] or frames[:1]):
            whole[plain(name)] += int(ns)
    same("blame", top("blame")[1], whole)


run(gprof_mt, "export", "--format", "pprof", *selection)
has_cpu = of_flat()
of_blocked()
of_blame()
assert any(line.startswith("Time: ") for line in pprof("-top"))
shown = next(line for line in pprof("-top") if line.startswith("Type: "))
assert shown == "Type: " + ("cpu" if has_cpu else "calls"), shown
