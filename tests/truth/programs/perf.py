# SPDX-License-Identifier: MIT
"""perf.py SCRIPT REPORT: compares the report's threads with perf's own recording of the same run.

SCRIPT is the output of `perf script --ns -F tid,time,event,trace` for a `perf sched record`. The running,
runnable and blocked time of each thread agrees within 2 % of its lifetime.

Some kernels drop events of idle CPUs, so perf sometimes misses switches. The scheduler's own account
(sched_stat_runtime) shows for which threads: there it is the witness of the running time, and the rest has
none."""
import json
import re
import sys
from collections import defaultdict

TOLERATED = 0.02
LINE = re.compile(r"\s*(\d+)\s+(\d+)\.(\d{9}):\s+sched:(\w+):\s+(.*)")
SWITCH = re.compile(r"prev_comm=.* prev_pid=(\d+) prev_prio=-?\d+ prev_state=(\S+) ==> .*next_pid=(\d+) ")
RUNTIME = re.compile(r"comm=.* pid=(\d+) runtime=(\d+)")
mode, since, spent, ran = {}, {}, defaultdict(lambda: defaultdict(int)), defaultdict(int)


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
    elif event == "sched_stat_runtime":
        runtime = RUNTIME.match(fields)
        ran[int(runtime[1])] += int(runtime[2])
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
        continue  # it also existed before its exec
    if abs(spent[tid]["running"] - ran[tid]) > TOLERATED / 2 * life:
        if abs(ours["running"] - ran[tid]) > TOLERATED * life:
            sys.exit(f"thread {tid}: expected {ran[tid]} ns running by the scheduler, got {ours['running']} of {life}")
        print(f"thread {tid}: perf missed switches")
        continue
    for what, ns in ours.items():
        if abs(ns - spent[tid][what]) > TOLERATED * life:
            sys.exit(f"thread {tid}: expected {spent[tid][what]} ns {what} by perf, got {ns} of {life}")
    compared += 1
if compared < 3:
    sys.exit(f"only {compared} threads compared")
