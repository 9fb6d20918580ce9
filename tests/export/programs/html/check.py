# SPDX-License-Identifier: MIT
"""check.py GPROF_MT CAPTURE PAGE [OPTION...]: compares the figures of the page with report, history, graph
and folded stacks, for the given selection; for all of the time and, if no time is selected, for parts of it."""
import collections
import sys

import page

gprof_mt, capture, path, *options = sys.argv[1:]
program = page.Program(gprof_mt, capture)
doc = page.read(path)
has_time = any(o.startswith("--time") for o in options)


def same(what, got, want):
    got, want = dict(got), dict(want)
    if got != want:
        different = [(k, got.get(k), want.get(k)) for k in got.keys() | want.keys() if got.get(k) != want.get(k)]
        sys.exit(f"{path}: {what}: {len(different)} differ, of (key, page, report): {different[:5]}")
    return len(got)


def lacks(what, reason):
    return {"what": what, "reason": reason} in doc["missing"]


def text_of(site):
    return None if site < 0 else doc["sites"][site]["text"]


def tid_of(thread):
    return None if thread < 0 else doc["threads"][thread]["tid"]


def key_of(number):
    found = doc["objects"][number]
    return doc["processes"][found["process"]]["pid"], found["address"], found["generation"]


def key_in(row):
    return row["pid"], row["object"], row["generation"]


THREADS = {"running": "running_ns", "runnable": "runnable_ns", "sync": "blocked_sync_ns", "io": "blocked_io_ns",
           "other": "blocked_other_ns", "unknown": "unknown_ns"}


def threads(bins, chosen):
    got = {tid_of(k[0]): tuple(v[f] for f in THREADS)
           for k, v in page.add_up(doc["sums"]["threads"], ["thread"], THREADS, bins).items()}
    table = program.json("report", *chosen, "threads")["threads"]
    want = {t["tid"]: tuple(t[f] for f in THREADS.values()) for t in table if t["lifetime_ns"]}
    return same("threads", got, want)


def objects(bins, chosen):
    figures = ["acquired", "contended", "wait", "hold"]
    sums = page.add_up(doc["sums"]["objects"], ["object"], [*figures, "max_wait", "max_hold"], bins)
    got = {key_of(k[0]): tuple(v[f] for f in figures) for k, v in sums.items() if any(v.values())}
    table = [r for r in program.json("report", *chosen, "locks")["locks"]]
    want = {key_in(r): (r["acquired"], r["contended"], r["wait_ns"], r["hold_ns"]) for r in table}
    same("objects", got, {k: v for k, v in want.items() if any(v)})
    if bins is None and not has_time:
        got = {key_of(k[0]): (v["max_wait"], v["max_hold"]) for k, v in sums.items()}
        want = {key_in(r): (r["wait_max_ns"] or None, r["hold_max_ns"] or None) for r in table}
        same("the longest", {k: (v[0] or None, v[1] or None) for k, v in got.items() if any(v)},
             {k: v for k, v in want.items() if any(v)})
    return len(table)


def operations(bins, chosen):
    sums = page.add_up(doc["sums"]["operations"], ["thread", "op"], ["count", "blocked", "wait"], bins)
    table = program.json("report", *chosen, "sync")["sync"]
    cannot_block = {r["function"] for r in table if r["wait_ns"] is None}
    want = {(r["tid"], r["function"]): (r["calls"], r["blocked"] or 0, r["wait_ns"] or 0) for r in table}
    if set(doc["sums"]["operations"]["count"]) == {None}:
        want = {k: (None, *v[1:]) for k, v in want.items() if v[2]}
        sums = {k: v for k, v in sums.items() if v["wait"]}
    got = {(tid_of(t), doc["ops"][op]): (v["count"], 0 if doc["ops"][op] in cannot_block else v["blocked"], v["wait"])
           for (t, op), v in sums.items()}
    return same("operations", got, want)


def waits():
    """As a graph, which has no times; and one by one."""
    keys = ["thread", "blocker", "object", "site", "blocker_site"]
    got, want = collections.Counter(), collections.Counter()
    for (thread, blocker, number, site, other), v in page.add_up(doc["sums"]["waits"], keys, ["count", "ns"]).items():
        key = tid_of(thread), tid_of(blocker), key_of(number), text_of(site), text_of(other)
        got[key, "n"] += v["count"]
        got[key, "ns"] += v["ns"]
    for edge in program.json("graph", "--kind", "wait", *options)["edges"]:
        for wait in edge["waits"]:
            key = edge["from"], edge["to"], key_in(wait), wait["site"], wait["other_site"]
            want[key, "n"] += wait["count"]
            want[key, "ns"] += wait["wait_ns"]
    same("waits", got, want)


def history():
    """Each wait, and the distribution of their lengths."""
    if lacks("synchronization", "no operation was recorded"):
        assert not doc["waits"]["n"] and not doc["sums"]["operations"]["n"], "operations that were not recorded"
        return 0
    got, want = collections.Counter(), collections.Counter()
    lengths, buckets = collections.Counter(), collections.Counter()
    table = program.json("report", "threads")["threads"]
    began = {t["tid"]: t["start_ns"] for t in table}
    start_ns = next(began[t["tid"]] - t["start_ns"] for t in doc["threads"] if t["tid"] in began) if not has_time else 0
    for row in page.rows(doc["waits"]):
        ended = row["start"] + row["ns"]
        assert 0 <= row["start"] and ended <= doc["end_ns"], row
        if row["ns"]:
            got[tid_of(row["thread"]), key_of(row["object"]), text_of(row["site"]), row["ns"], start_ns + ended] += 1
    assert doc["waits"]["start"] == sorted(doc["waits"]["start"]), "waits are not sorted"
    for found in program.json("history", *options)["objects"]:
        for op in found["ops"]:
            if op["wait_ns"]:
                ended = op["time_ns"] + (op["wait_ns"] if op["result"] is None else 0)
                want[op["tid"], key_in(found), op["site"], op["wait_ns"], ended] += 1
                # No wait at all is also in the first bucket.
                lengths[key_in(found), op["wait_ns"].bit_length() - 1] += op["wait_ns"] > 1
    if not has_time:
        same("waits, one by one", got, want)
    for row in page.rows(doc["sums"]["distribution"]):
        if row["bucket"]:
            buckets[key_of(row["object"]), row["bucket"]] += row["count"]
    same("distribution", buckets, +lengths)
    return sum(want.values())


def switches():
    sums = page.add_up(doc["sums"]["switches"], ["from", "to"], ["count"])
    if lacks("switches", "no scheduling events record which thread ran next"):
        assert not sums, "switches that nobody can know of"
        return 0
    edges = program.json("graph", "--kind", "switch", *options)["edges"]
    return same("switches", {(tid_of(a), tid_of(b)): v["count"] for (a, b), v in sums.items()},
                {(e["from"], e["to"]): e["count"] for e in edges})


def lanes():
    """The steps agree with the sums."""
    names = doc["lanes"]["thread_states"]
    figure_of = {"blocked": "sync", "sleeping": "other"}
    sums = page.add_up(doc["sums"]["threads"], ["thread"], THREADS)
    for number, lane in enumerate(doc["lanes"]["threads"]):
        got = collections.Counter()
        ends = lane["t"][1:] + [doc["end_ns"]]
        assert lane["t"] == sorted(set(lane["t"])), "steps at one time"
        for start, end, state in zip(lane["t"], ends, lane["s"]):
            if names[state] != "gone":
                got[figure_of.get(names[state], names[state])] += end - start
        want = sums.get((number,), {})
        same(f"lane {number}", {k: v for k, v in got.items() if v and want.get(k, 0) is not None},
             {k: v for k, v in want.items() if v})


def stacks_of(flame):
    def frames(stack):
        return [] if stack < 0 else frames(doc["stacks"]["parent"][stack]) + [
            doc["functions"][doc["stacks"]["function"][stack]]]
    sums = page.add_up(flame, ["thread", "stack"], ["value"])
    got = collections.Counter()
    for (thread, stack), v in sums.items():
        got[(tid_of(thread), *frames(stack))] += v["value"]
    return got


def flames():
    units = {"calls": "calls", "time": "ns", "samples": "ns", "off-cpu": "ns"}
    for flame in doc["flames"]:
        kind, want = flame["kind"], collections.Counter()
        assert flame["unit"] == units[kind], flame["unit"]
        if kind == "calls" and set(flame["bin"]) == {-1}:
            for row in program.json("report", *options, "callgraph")["arcs"]:
                want[row["tid"]] += row["calls"]
            got = collections.Counter()
            for stack, n in stacks_of(flame).items():
                got[stack[0]] += n
            same("calls", got, want)
            continue
        for line in program.text("export", "--format", "folded", "--what", kind, "-o", "-", *options).splitlines():
            stack, number = line.rsplit(" ", 1)
            first, *rest = stack.split(";")
            want[(int(first.split("(tid ")[1].split(",")[0]), *rest)] += int(number)
        same(kind, stacks_of(flame), want)


def findings():
    """Objects as in the summary, in its order; threads as in the sums."""
    top = program.json("report", *options, "summary")["summary"][0]["top"]
    of_objects = [f for f in doc["findings"] if f["object"] >= 0]
    for found, row in zip(of_objects, top):
        of = doc["objects"][found["object"]]
        assert (of["name"], of["address"]) == (row["name"], row["object"]), (found, row)
        assert row["name"] in found["text"] and text_of(found["site"]) == row["site"], (found, row)
    assert len(of_objects) >= len(top), doc["findings"]
    sums = page.add_up(doc["sums"]["threads"], ["thread"], ["runnable", "io"])
    for found in doc["findings"]:
        figure = "runnable" if "had no CPU" in found["text"] else "io" if "in I/O" in found["text"] else None
        if figure:
            most = max(v[figure] or 0 for v in sums.values())
            assert sums[found["thread"],][figure] == most, (found, most)
            assert f"(tid {tid_of(found['thread'])})" in found["text"], found


PARTS = {k: f"{k}_ns" for k in ("running", "runnable", "blocked", "unknown", "outside")}
# For each table of the path: its name in the report, and the columns of both.
PATH = {
    "threads": ("critical_threads", {"ns": "path_ns", "share": "path_pct", "outside": "outside_ns", **THREADS}),
    "objects": ("critical_objects", {"name": "name", "ns": "held_ns", "share": "held_pct", "crossings": "crossings",
                                     "waited": "waited_ns"}),
    "functions": ("critical_functions", {"name": "function", "ns": "self_ns", "share": "self_pct",
                                         "within": "within_ns", **PARTS}),
    "calls": ("critical_sites", {"name": "function", "ns": "path_ns", "share": "path_pct", **PARTS}),
    "segments": ("critical_stretches", {"ns": "duration_ns", "running": "running_ns", "runnable": "runnable_ns",
                                        "unknown": "unknown_ns", "outside": "outside_ns", "call": "call",
                                        "site_text": "site",
                                        "object": "object_name"}),
}


def path_threads(table):
    """The threads of each segment: those of the report, and in the order of its times."""
    found = list(page.rows(doc["path"]["segments"]))
    same("threads of segments", enumerate((tid_of(r["thread"]), tid_of(r["to"])) for r in found),
         enumerate((r["tid"], r["to_tid"]) for r in table))
    starts = [r["start"] for r in found]
    origin = table[0]["start_ns"] - starts[0] if table else 0
    same("starts of segments", enumerate(starts), enumerate(r["start_ns"] - origin for r in table))
    assert all(r["start"] + r["ns"] <= doc["end_ns"] for r in found), "a segment after the end"
    for row in found:
        assert row["site"] < 0 or text_of(row["site"]) == row["site_text"], row


def critical_path():
    """The tables of the critical path, row by row."""
    report = program.json("report", *options, "critical-path")
    for name, (key, columns) in PATH.items():
        table = report.get(key, [])
        got = page.rows(doc["path"][name])
        same(f"path: {name}", enumerate(tuple(r[c] for c in columns) for r in got),
             enumerate(tuple(r[c] for c in columns.values()) for r in table[:2000]))
        if name == "threads":
            same("threads on the path", enumerate(tid_of(r["thread"]) for r in got), enumerate(r["tid"] for r in table))
        for row, of in zip(got, table):
            assert name != "objects" or row["object"] < 0 or key_of(row["object"]) == key_in(of), (row, of)
            first = of["sites"][0] if name == "calls" else None
            assert not first or row["site"] < 0 or text_of(row["site"]) == first["site"], (row, first)
    assert all(r["object"] >= 0 or (r["ns"] is None and r["name"].startswith("(none"))
               for r in page.rows(doc["path"]["objects"])) or len(doc["objects"]) == 500, "objects without a lane"
    path_threads(report.get("critical_stretches", []))
    return len(report.get("critical_stretches", []))


def frames_of(stack):
    names, of = [], doc["blame"]["stacks"]
    while stack >= 0:
        names.insert(0, doc["functions"][of["function"][stack]])
        stack = of["parent"][stack]
    return names


BLAME = {"count": "waits", "ns": "wait_ns", "idle": "idle_ns", **THREADS}


def blame():
    """All waits, by cause and by waiting call as in the report; the stacks end with the call and the object."""
    found = list(page.rows(doc["blame"]))
    report = program.json("report", *options, "blame", "locks", "summary")
    leading = [f"{f['title']}: {f['text']}" for f in report["summary"][0]["finding"]]
    cause = doc["blame"]["cause"]
    assert ([cause["text"]] if cause else []) == leading, (cause, leading)
    same("blame in all", [("ns", sum(r["ns"] for r in found))], [("ns", sum(r["wait_ns"] for r in report["locks"]))])
    if any(m["what"] == "blame" for m in doc["missing"]):
        return 0
    is_known = {key_in(r) for r in report["locks"]} & {key_of(i) for i in range(len(doc["objects"]))}
    got, want, waits = collections.Counter(), collections.Counter(), collections.Counter()
    for row in found:
        if row["object"] < 0:
            continue
        holder, waiter = frames_of(row["holder"]), frames_of(row["waiter"])
        assert holder[-1] == waiter[-1] == doc["objects"][row["object"]]["name"], (holder, waiter)
        assert row["op"] < 0 or holder[-2] == doc["ops"][row["op"]], holder
        assert row["kind"] in ("holder", "caller") or holder[0] == f"[{row['kind']}]", holder
        for figure in BLAME:
            assert row[figure] is not None or row["kind"].startswith("unknown"), row
            got[key_of(row["object"]), row["kind"], text_of(row["site"]), text_of(row["acquired"]), figure] += row[figure] or 0
        waits[key_of(row["object"]), text_of(row["waiter_site"]), waiter[-2]] += row["ns"]
    for row in report["blame"]:
        for figure, key in BLAME.items():
            if key_in(row) in is_known:
                want[key_in(row), row["kind"], row["site"], row["acquired"], figure] += row[key] or 0
    same("blame by waiter", +waits, +collections.Counter({
        key: sum(r["wait_ns"] for r in report["blame_waiters"] if (key_in(r), r["site"], r["function"]) == key)
        for key in {(key_in(r), r["site"], r["function"]) for r in report["blame_waiters"] if key_in(r) in is_known}}))
    return same("blame", +got, +want) + nested_blame(report)


def nested_blame(report):
    """Holders that were blocked, by what they were blocked on, as in the second table of `report blame`."""
    got, want = collections.Counter(), collections.Counter()
    for row in page.rows(doc["blame"]["nested"]):
        assert row["object"] < 0 or row["name"] == doc["objects"][row["object"]]["name"], row
        assert row["other"] < 0 or row["other_name"] == doc["objects"][row["other"]]["name"], row
        name = None if row["other"] < 0 else row["other_name"]
        got[key_of(row["object"]) if row["object"] >= 0 else None, text_of(row["site"]), name, row["kind"],
            text_of(row["other_site"])] += row["ns"]
    shown = {key_of(i) for i in range(len(doc["objects"]))}
    names = {o["name"] for o in doc["objects"]}
    for row in report["blame_nested"]:
        key = key_in(row)
        want[key if key in shown else None, row["site"], row["nested_name"] if row["nested_name"] in names else None,
             row["nested_kind"], row["nested_site"]] += row["nested_ns"]
    return same("nested blame", +got, +want)


def edges():
    """A capture too large for all details: the sums of waiters and holders agree with the objects."""
    of = doc["sums"]["waits"]
    of_objects = doc["sums"]["objects"]
    same("waits in all", {"count": sum(of["count"]), "ns": sum(of["ns"])},
         {"count": sum(of_objects["contended"]), "ns": sum(of_objects["wait"])})
    assert -1 in doc["sums"]["operations"]["site"] and max(doc["sums"]["operations"]["site"]) >= 0, "no choice"
    return 0


is_large = any(m["what"] == "calls of synchronization" for m in doc["missing"])
n = [threads(None, options), objects(None, options), operations(None, options),
     edges() if is_large else history(), switches(), critical_path(), blame()]
if not has_time:
    if not is_large and doc["sums"]["waits"]["n"]:
        waits()
    for first, end in (0, doc["bins"] // 3), (doc["bins"] // 3, doc["bins"] // 2), (doc["bins"] // 2, doc["bins"]):
        chosen = [f"--time={page.edge(doc, first)}ns~{page.edge(doc, end)}ns" if end < doc["bins"] else
                  f"--time={page.edge(doc, first)}ns~", *options]
        for part in threads, objects, operations:
            part(range(first, end), chosen)
findings()
if not is_large:
    lanes()
    flames()
print(path, *n, *(f["kind"] for f in doc["flames"]))
