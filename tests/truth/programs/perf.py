# SPDX-License-Identifier: MIT
"""perf.py SCRIPT REPORT: the report's threads against perf's own recording of the same run.

SCRIPT is what `perf script --ns -F tid,time,event,trace` prints of a `perf sched record`.  Of each thread:
running, ready to run and blocked, each within 2 % of its life."""
import json
import re
import sys
from collections import defaultdict

TOLERATED = 0.02
LINE = re.compile(r"\s*(\d+)\s+(\d+)\.(\d{9}):\s+sched:(\w+):\s+(.*)")
SWITCH = re.compile(r"prev_comm=.* prev_pid=(\d+) prev_prio=-?\d+ prev_state=(\S+) ==> .*next_pid=(\d+) ")
mode, since, spent = {}, {}, defaultdict(lambda: defaultdict(int))


def enter(tid, now, new):
    if tid in mode:
        spent[tid][mode[tid]] += now - since[tid]
    mode[tid], since[tid] = new, now


for line in open(sys.argv[1]):
    found = LINE.match(line)
    if not found:
        continue
    now, event, fields = int(found[2] + found[3]), found[4], found[5]
    if event == "sched_switch":
        switch = SWITCH.match(fields)
        before, state, after = int(switch[1]), switch[2], int(switch[3])
        if state[0] in "XZ":
            enter(before, now, "gone")
        else:
            enter(before, now, "ready" if state[0] == "R" else "blocked")
        enter(after, now, "running")
    elif event in ("sched_waking", "sched_wakeup_new", "sched_wakeup"):
        tid = int(re.search(r" pid=(\d+)", " " + fields)[1])
        if mode.get(tid, "blocked") == "blocked":
            enter(tid, now, "ready")

compared = 0
for thread in json.load(open(sys.argv[2]))["threads"]:
    tid, life = thread["tid"], thread["end_ns"] - thread["start_ns"]
    ours = {"running": thread["running_ns"], "ready": thread["runnable_ns"],
            "blocked": thread["blocked_sync_ns"] + thread["blocked_io_ns"] + thread["blocked_other_ns"]}
    if thread["index"] == 0:
        continue  # it lived before its exec, too
    for what, ns in ours.items():
        if abs(ns - spent[tid][what]) > TOLERATED * life:
            sys.exit(f"thread {tid}: {what} {ns} ns of {life}; by perf {spent[tid][what]}")
    compared += 1
if compared < 4:
    sys.exit(f"{compared} threads compared")
