# SPDX-License-Identifier: MIT
"""compare_sources.py THREADS LEVEL: of one run, perf.json and bpf.json (report threads), perf.events and bpf.events (as
babeltrace2 prints them): each thread ran and waited alike, and every event of one has its like; at
level full, system calls and page faults to the last."""
import collections
import json
import re
import sys

NAMES = ("perf", "bpf")
threads = [{t["tid"]: t for t in json.load(open(f"{name}.json"))["threads"]} for name in NAMES]
bad = False


def complain(text):
    global bad
    print(text)
    bad = True


for tid, ours in threads[1].items():
    theirs, life = threads[0][tid], ours["end_ns"] - ours["start_ns"]
    if ours["pid"] == tid:  # before its exec it was the inner record's child, which perf has, too
        continue
    switches = ours["switches_voluntary"] + ours["switches_involuntary"]
    # The cost of recording a switch lies on either side of it.
    near = 0.02 * life + 2000 * switches
    kinds = {"running": ("running_ns",), "runnable": ("runnable_ns",),
             "blocked": [key for key in ours if key.startswith("blocked_") and key.endswith("_ns")]}
    for kind, keys in kinds.items():
        mine, others = (sum(t[key] or 0 for key in keys) for t in (ours, theirs))
        if abs(mine - others) > near:
            complain(f"thread {tid}: {kind} {mine} ns of {life}, perf has {others}")

LINE = re.compile(r"^\[[0-9.]+\] \S+ \S+ (\w+): (.*)$")
OWNED = re.compile(r"^\{ cpu_id = \d+ \}, \{ tid = (\d+)(?:, irq = \d+)? \}, (.*)$")
EXACT = ("syscall_", "x86_exceptions_")


def events(name, tids):
    """What happened to each of the threads: name of the event and what it says, but for the time."""
    found = collections.Counter()
    for line in open(f"{name}.events"):
        kind, fields = LINE.match(line).groups()
        if kind.startswith(EXACT):
            tid, fields = OWNED.match(fields).groups()
            if int(tid) in tids:
                found[(kind, tid, fields)] += 1
        if kind not in ("sched_switch", "sched_waking"):
            continue
        value = dict(re.findall(r"(\w+) = (\"[^\"]*\"|-?\d+)", fields))
        if kind == "sched_switch":
            for side in ("prev", "next"):
                if int(value[f"{side}_tid"]) in tids:
                    found[(kind, side, value[f"{side}_tid"], value[f"{side}_prio"],
                           value["prev_state"] if side == "prev" else "")] += 1
        elif int(value["tid"]) in tids:  # the woken one: the later of the two of that name
            found[(kind, value["tid"], value["irq"], value["target_cpu"], value["prio"])] += 1
    return found


tids = {tid for tid, thread in threads[1].items() if thread["pid"] != tid}
theirs, ours = (events(name, tids) for name in NAMES)
exact = [{key: n for key, n in each.items() if key[0].startswith(EXACT)} for each in (theirs, ours)]
if exact[0] != exact[1]:
    complain(f"other calls or faults: {set(exact[0].items()) ^ set(exact[1].items())}")
for each in exact:
    for key in each:
        del theirs[key], ours[key]
total = sum(theirs.values())
# Some kernels tell perf nothing of what happens on an idle CPU: wakings there are ours alone.
for key, count in (theirs - ours).items():
    print(f"perf alone has {count} of {key}")
lacking = sum((theirs - ours).values())
if total < 10 or lacking > 0.02 * total + 2:
    complain(f"{lacking} events of {total}")
sys.exit(bad or len(tids) < int(sys.argv[1]) or (len(exact[0]) > 0) != (sys.argv[2] == "full"))
