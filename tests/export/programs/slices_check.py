# SPDX-License-Identifier: MIT
"""slices_check.py GPROF_MT FORMAT FILE [SELECTION...]: compares a trace in that format with the reports and
the history of the same capture. Prints "RELEASER FUNCTION SITE -> WAITER FUNCTION SITE" for each flow."""
import collections
import importlib
import json
import subprocess
import sys

gprof_mt, format_, file, *selection = sys.argv[1:]
Trace = importlib.import_module(format_).Trace


def run(*words):
    return json.loads(subprocess.run([gprof_mt, *words, "--format", "json", *selection], check=True,
                                     stdout=subprocess.PIPE).stdout)


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: only in the trace or only in the report: "
                 f"{sorted(set(got.items()) ^ set(want.items()), key=str)[:10]}")


trace = Trace(file)
report = run("report", "threads", "locks")
# A flow starts within the wait, at the operation that ended it: viewers let a flow lead to the slice that
# begins later.
for s in trace.slices:
    if s.within and not s.flows_out:
        assert s.name == "woken" and s.flows_in and s.within.begin <= s.begin <= s.end == s.within.end
        assert not s.within.within and not s.within.flows_in and not hasattr(s.within, "woken")
        s.within.woken, s.within.flows_in = s.begin, s.flows_in
slices = [s for s in trace.slices if not s.within or s.flows_out]
READS_OR_WRITES = {"read", "write", "recv", "send", "recvmsg", "sendmsg", "accept", "connect", "fsync"}
states, waits, holds = collections.Counter(), collections.Counter(), collections.Counter()
operations = []
for s in slices:
    thread, length = trace.thread(s.track), s.end - s.begin
    assert length >= 0
    if thread and s.track.name == "state":
        kind = s.name.split(" on ")[0] if s.name != "blocked on I/O" else "I/O"
        if kind.startswith("blocked in "):
            assert s.notes["call"] == kind[len("blocked in "):], s.notes
            kind = "I/O" if s.notes["call"] in READS_OR_WRITES else "asleep"
        states[thread.tid, kind] += length
        assert kind != "blocked" or s.notes["operation"] and s.notes["site"], s.notes
        assert kind != "running" or "cpu" in s.notes
    elif thread:
        operations.append((thread, s))
        if not s.flows_out:
            waits[s.notes["object"]] += length
            # A wait counts at its end, whatever part of it is within the time.
            waits[s.notes["object"], "n"] += "--time" not in selection
    else:
        assert [p.name for p in trace.parents(s.track)][0] == "locks"
        assert s.notes["operation"] and s.notes["site"]
        holds[s.track.name] += length

# Slices of a track never overlap, since their ends would be confused; states have no gaps either.
ends = {}
for s in sorted((s for s in slices if s.track.name != "state" and s.end > s.begin), key=lambda s: s.begin):
    assert ends.get(s.track.uuid, s.begin) <= s.begin, (s.track, s.name)
    ends[s.track.uuid] = s.end
ends = {}
for s in sorted((s for s in slices if s.track.name == "state"), key=lambda s: (s.begin, s.end)):
    assert ends.setdefault(s.track.uuid, s.begin) == s.begin, "a gap, or an overlap"
    ends[s.track.uuid] = s.end

columns = {"running": "running_ns", "runnable": "runnable_ns", "blocked": "blocked_sync_ns", "I/O": "blocked_io_ns",
           "asleep": "blocked_other_ns", "not known": "unknown_ns"}
if all(t["running_ns"] is None for t in report["threads"]):  # nothing is known: the report has no lengths
    states = {k: v for k, v in states.items() if k[1] != "not known"}
same("states", {k: v for k, v in states.items() if v},
     {(t["tid"], k): t[c] for t in report["threads"] for k, c in columns.items() if t[c]})
names = {f"{o['name']} ({o['object']})": o for o in report["locks"]}
same("waits", {k: v for k, v in waits.items() if v},
     {k: v for n, o in names.items() for k, v in ((n, o["wait_ns"]), ((n, "n"), o["contended"] * ("--time" not in selection)))
      if v})
same("holds", {k: v for k, v in holds.items() if v}, {n: o["hold_ns"] for n, o in names.items() if o["hold_ns"]})

# From an instant to a wait of another thread for the same object, forward in time.
out = {f: (t, s) for t, s in operations for f in s.flows_out}
into = {f: (t, s) for t, s in operations for f in s.flows_in}
assert out.keys() == into.keys() and len(out) == sum(len(s.flows_out) for _, s in operations)
for flow, (thread, release) in sorted(out.items()):
    waiter, wait = into[flow]
    assert release.begin == release.end and wait.woken == release.begin
    assert thread.tid != waiter.tid and release.notes["object"] == wait.notes["object"]
    print(thread.thread_name, release.name, release.notes.get("site"), "->", waiter.thread_name, wait.name,
          wait.notes["site"])
if selection:
    sys.exit()

# Each wait during which another thread released the object has a flow.
LETS_GO = {"mutex_unlock", "rwlock_unlock", "spin_unlock", "sem_post", "cond_signal", "cond_broadcast",
           "cond_wait_begin", "cond_timedwait_begin", "cond_clockwait_begin", "thread_exit"}
least = most = 0
for o in run("history")["objects"]:
    for op in o["ops"]:
        if not op["wait_ns"] or op["result"] != 0:
            continue
        begin, end = op["time_ns"] - op["wait_ns"], op["time_ns"]
        others = [e["time_ns"] for e in o["ops"] if e["tid"] != op["tid"] and (
            e["op"] in LETS_GO or (e["op"] in ("barrier_wait", "once") and e["wait_ns"] == 0))]
        least += any(begin < t < end for t in others)
        most += any(begin <= t <= end for t in others)
barriers = sum(w.notes["object"] == r.notes["object"] and w.name == "pthread_barrier_wait" and w.notes["result"] != 0
               for (_, r), (_, w) in ((out[f], into[f]) for f in out))
assert least <= len(out) - barriers <= most, (least, len(out), barriers, most)
