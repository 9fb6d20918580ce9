# SPDX-License-Identifier: MIT
"""parts.py GPROF_MT CAPTURE [SWITCHES_TEXT CLOCK_OFFSET_NS]: checks selections by --time and the other options.

Three consecutive times add up to the whole in every section, to the nanosecond and the last count; so do the
objects. The part of a thread is its rows of the whole. The running time of each thread within the second time
is that of babeltrace2's text of the switches."""
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict

gprof_mt, capture = sys.argv[1:3]


def ask(command, *arguments):
    ran = subprocess.run([gprof_mt, command, "-i", capture, "--format", "json", *arguments],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if ran.returncode or ran.stderr:
        sys.exit("FAIL: %s %s: %s" % (command, arguments, ran.stderr.decode()))
    return json.loads(ran.stdout)


def compare(what, ours, other):
    if not isinstance(ours, dict) and ours != other:
        sys.exit("FAIL: %s: got %s, expected %s" % (what, ours, other))
    if ours != other:
        keys = [k for k in set(ours) | set(other) if ours.get(k) != other.get(k)]
        sys.exit("FAIL: %s: %s" % (what, [(k, ours.get(k), other.get(k)) for k in keys[:5]]))


SUMS = {
    "threads": (("pid", "tid", "index"), ("lifetime_ns", "running_ns", "runnable_ns", "blocked_sync_ns", "blocked_io_ns",
                "blocked_other_ns", "unknown_ns", "switches_voluntary", "switches_involuntary")),
    "sync": (("pid", "tid", "index", "function"), ("calls", "blocked", "wait_ns")),
    "locks": (("pid", "object", "generation"), ("acquired", "contended", "wait_ns", "hold_ns")),
    "edges": (("from", "to"), ("count",)),
    "critical_threads": (("pid", "tid", "index"), ("path_ns", "running_ns", "runnable_ns", "blocked_sync_ns")),
    "paths": (("object", "function", "path"), ("calls", "wait_ns")),
}
SECTIONS = ("threads", "sync", "locks", "switches", "critical-path", "paths")


def sums(report):
    of = Counter()
    for table, (keys, values) in SUMS.items():
        for row in report[table]:
            for value in values:
                of[(table, *(row[k] for k in keys), value)] += row[value] or 0
        for row in report[table] if table == "locks" else ():
            for site in row["sites"]:
                for value in ("calls", "contended", "wait_ns", "hold_ns"):
                    of["site", row["object"], site["address"], site["function"], value] += site[value] or 0
    return {k: v for k, v in of.items() if v}


def operations(history):
    return Counter((o["object"], o["generation"], op["time_ns"], op["tid"], op["op"], op["wait_ns"])
                   for o in history["objects"] for op in o["ops"])


whole, history = ask("report", *SECTIONS), ask("history")
begin = min(t["start_ns"] for t in whole["threads"])
length = max(t["end_ns"] for t in whole["threads"]) - begin
cuts = length // 3, 2 * length // 3
times = ["~%dns" % cuts[0], "%dns~%dns" % cuts, "%dns~" % cuts[1]]
parts = [ask("report", "--time", time, *SECTIONS) for time in times]
added = Counter()
for part in parts:
    added.update(sums(part))
compare("the times together", added, sums(whole))
added = Counter()
for time in times:
    added.update(operations(ask("history", "--time", time)))
compare("the histories together", added, operations(history))

# Threads: by id, by name, and all of them in one command.
for thread in whole["threads"][1:3]:
    part = ask("report", "--tid", str(thread["tid"]), "threads", "sync")
    compare("thread %d" % thread["tid"], {"threads": part["threads"], "sync": part["sync"]},
            {t: [r for r in whole[t] if r["tid"] == thread["tid"]] for t in ("threads", "sync")})
tids = ",".join({str(t["tid"]) for t in whole["threads"]})
compare("all threads", sums(ask("report", "--tid", tids, *SECTIONS)), sums(whole))
named = ask("report", "--thread", "phil-[12]", "threads")["threads"]
compare("two names", {t["name"] for t in named}, {"phil-1", "phil-2"})

# Objects: every other one, and the operations on all of them.
added = Counter()
halves = history["objects"][::2], history["objects"][1::2]
for half in halves:
    options = [word for row in half for word in ("--object", "%s/%d" % (row["object"], row["generation"]))]
    for usage in ask("report", *options, "sync")["sync"]:
        added[usage["tid"], usage["function"]] += usage["calls"]
    compare("objects %s" % options, operations(ask("history", *options)), operations({"objects": half}))
compare("the objects together", added,
        {(r["tid"], r["function"]): r["calls"] for r in whole["sync"] if r["calls"]})

# Operations that waited at least as long as the median wait.
waits = sorted(op["wait_ns"] for o in history["objects"] for op in o["ops"]
               if op["wait_ns"] and not (op["op"].startswith("cond_") and o["type"] == "mutex"))
least = waits[len(waits) // 2]
part = ask("report", "--min-wait", "%dns" % least, "sync")["sync"]
compare("long waits", {"calls": sum(r["calls"] for r in part), "ns": sum(r["wait_ns"] or 0 for r in part)},
        {"calls": sum(w >= least for w in waits), "ns": sum(w for w in waits if w >= least)})

# Functions: those with call sites, and those called.
part = ask("report", "--function", "ea*", "sync")["sync"]
compare("calls in eat()", {r["function"] for r in part}, {"sem_wait", "sem_post"})
part = ask("report", "--function", "sem_*", "sync")["sync"]
compare("calls of sem_*()", {(r["tid"], r["function"]): r["calls"] for r in part},
        {(r["tid"], r["function"]): r["calls"] for r in whole["sync"] if r["function"].startswith("sem_")})

if len(sys.argv) < 4:
    print("parts of", length, "ns; nothing to compare running times with")
    sys.exit(0)

# Seconds since the start have six digits. The start of the recording, to half a microsecond:
text = subprocess.run([gprof_mt, "history", "-i", capture], stdout=subprocess.PIPE).stdout.decode()
since = min(float(s) for s in re.findall(r"^ +(\d+\.\d{6}) +\d+ ", text, re.M))
start = min(op["time_ns"] for o in history["objects"] for op in o["ops"]) - round(since * 1e9)
first, last = (start + cut + int(sys.argv[4]) for cut in cuts)
running, since, known = defaultdict(int), {}, set()
for line in open(sys.argv[3]):
    found = re.search(r"^\[(\d+)\.(\d{9})\].* sched_process_exit: .* tid = (\d+)", line)
    if found and int(found[3]) in since:
        # An image ends here; its last switch comes later.
        time, ended = int(found[1] + found[2]), int(found[3])
        running[ended] += max(0, min(time, last) - max(since.pop(ended), first))
    found = re.search(r"^\[(\d+)\.(\d{9})\].* sched_switch: .*prev_tid = (\d+).*next_tid = (\d+)", line)
    if not found:
        continue
    time, previous, following = int(found[1] + found[2]), int(found[3]), int(found[4])
    if time < first:
        known |= {previous, following}
    if previous in since:
        running[previous] += max(0, min(time, last) - max(since.pop(previous), first))
    since[following] = time
for tid, time in since.items():
    running[tid] += max(0, last - max(time, first))
compared = 0
for row in parts[1]["threads"]:
    if row["tid"] not in known:
        continue
    compared += 1
    # Both ends have the precision of the printed seconds.
    if abs(row["running_ns"] - running[row["tid"]]) > 2000:
        sys.exit("FAIL: %s ran for %d ns within %s, and by the switches for %d" %
                 (row["name"], row["running_ns"], times[1], running[row["tid"]]))
print("parts of", length, "ns;", compared, "running times compared")
if not compared:
    sys.exit("FAIL: no running time compared")
