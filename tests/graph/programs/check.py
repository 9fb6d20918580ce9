# SPDX-License-Identifier: MIT
"""Graphs of tests/graph/programs/orders.c against what it does, and against babeltrace2's reading.

usage: check.py lock-order.json wait.json locks.json USER.txt precedence.json
"""
import collections
import json
import re
import sys

order, wait, locks, precedence = (json.load(open(path)) for path in sys.argv[1:4] + sys.argv[5:])
for document in order, wait, locks, precedence:
    assert document["schema"] == 1

# --- the orders, as the program takes them
name = {n["id"]: n["name"] for n in order["nodes"]}
edges = {(name[e["from"]], name[e["to"]]): e for e in order["edges"]}
assert len(edges) == len(order["edges"])
want = {
    ("pair_a", "pair_b"): 1, ("pair_b", "pair_a"): 1,
    ("ring_a", "ring_b"): 1, ("ring_b", "ring_c"): 1, ("ring_c", "ring_a"): 1,
    ("gate", "gated_a"): 2, ("gate", "gated_b"): 2,
    ("gated_a", "gated_b"): 1, ("gated_b", "gated_a"): 1,
    ("tried_a", "tried_b"): 1,
    ("shared", "beside"): 1, ("beside", "shared"): 1,
    ("own_a", "own_b"): 1, ("own_b", "own_a"): 1,
    ("recursive", "inner"): 1,
}
found = {pair: edge["count"] for pair, edge in edges.items()}
assert found == want, (found, want)
verdicts = {frozenset(name[o["id"]] for o in c["objects"]): c["verdict"] for c in order["cycles"]}
assert verdicts == {
    frozenset(("pair_a", "pair_b")): "possible deadlock",
    frozenset(("ring_a", "ring_b", "ring_c")): "possible deadlock",
    frozenset(("shared", "beside")): "possible deadlock",
    frozenset(("gated_a", "gated_b")): "gate lock",
    frozenset(("own_a", "own_b")): "one thread",
}, verdicts
for cycle in order["cycles"]:
    steps = cycle["steps"]
    if cycle["verdict"] == "possible deadlock":
        assert len({s["tid"] for s in steps}) == len(steps) >= 2, cycle
        assert [s["to"] for s in steps] == [s["from"] for s in steps[1:] + steps[:1]], cycle
    if cycle["verdict"] == "gate lock":
        assert name[cycle["gate"]] == "gate", cycle
for edge in order["edges"]:
    for site in edge["sites"]:
        assert re.match(r"\w+ \(.*orders\.c:\d+\)$", site["held_site"]), site
        assert re.match(r"\w+ \(.*orders\.c:\d+\)$", site["site"]), site

# --- the waits, as babeltrace2 reads them
begun, waited = {}, collections.Counter()
released, after = {}, collections.Counter()
named = collections.defaultdict(set)
for line in open(sys.argv[4]):
    stamp, event, fields = re.match(r"\[([0-9.]+)\].* (\w+): (\{.*)", line).groups()
    fields = dict(re.findall(r"(\w+) = (\w+)", fields))
    at = round(float(stamp.split(".")[0]) * 1e9) + int(stamp.split(".")[1])
    tid, about = int(fields["tid"]), int(fields.get("object", "0"), 0)
    if event.endswith("_begin"):
        begun[tid, event[:-len("_begin")], about] = at
        named[tid, about].add(int(fields.get("holder", "0")))
    elif (tid, event, about) in begun:
        waited[tid, about] += at - begun.pop((tid, event, about))
    if fields.get("result", "0") != "0":
        continue
    if event in ("mutex_unlock", "sem_post", "thread_create", "thread_exit"):
        released[event, about] = tid
    source = {"mutex_lock": "mutex_unlock", "mutex_trylock": "mutex_unlock", "sem_wait": "sem_post",
              "thread_start": "thread_create", "thread_join": "thread_exit"}.get(event)
    if source and (source, about) in released and released[source, about] != tid:
        after[source, event, released[source, about], tid] += 1
assert not begun, begun
shown = collections.Counter()
for edge in wait["edges"]:
    assert edge["count"] == sum(w["count"] for w in edge["waits"]), edge
    assert edge["wait_ns"] == sum(w["wait_ns"] for w in edge["waits"]), edge
    for w in edge["waits"]:
        shown[edge["from"], int(w["object"], 16)] += w["wait_ns"]
        if w["how"] in ("held", "ended"):
            assert named[edge["from"], int(w["object"], 16)] & {0, edge["to"]}, (edge, named)
assert shown == waited, (shown, waited)
by_object = collections.Counter()
for (_, about), ns in shown.items():
    by_object[about] += ns
of_locks = collections.Counter()
for o in locks["locks"]:  # the next thread may have the pthread_t of one that has ended
    of_locks[int(o["object"], 16)] += o["wait_ns"]
assert by_object == +of_locks, (by_object, of_locks)

# --- and as the program brings them about: its last thread waited for main, twice
threads = {n["tid"]: n for n in wait["nodes"] if n["tid"] is not None}
main = min(threads.values(), key=lambda n: n["index"])["tid"]
last = max(threads.values(), key=lambda n: n["index"])["tid"]
of_last = [(e["to"], w["name"], w["how"], w["function"], w["other_function"])
           for e in wait["edges"] if e["from"] == last for w in e["waits"]]
assert (main, "known", "held", "pthread_mutex_lock", "pthread_mutex_lock") in of_last, of_last
assert [w for w in of_last if w[0] == main and w[1] == "posted" and w[2] in ("woke", "released") and
        w[3:] == ("sem_wait", "sem_post")], of_last
of_main = [(e["to"], w["how"]) for e in wait["edges"] if e["from"] == main for w in e["waits"]]
assert all(how == "ended" for _, how in of_main), of_main

# --- what came before what: the release before each acquisition by another thread
nodes = {n["id"]: n for n in precedence["nodes"]}
short = lambda function: re.sub("^p?thread_(?=mutex|rwlock)", "", function).replace("pthread_", "thread_")
told = collections.Counter()
for edge in precedence["edges"]:
    a, b = nodes[edge["from"]], nodes[edge["to"]]
    assert edge["count"] == sum(o["count"] for o in edge["objects"]), edge
    if edge["kind"] != "rwlock":
        told[short(a["function"]), short(b["function"]), a["tid"], b["tid"]] += edge["count"]
assert told == after, (told, after)
