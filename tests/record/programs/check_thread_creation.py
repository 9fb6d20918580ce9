# SPDX-License-Identifier: MIT
"""check_thread_creation.py SAID EVENTS INFO: compares what thread_creation.c printed (SAID) with the events,
as babeltrace2 prints them. Each task has at least as many voluntary switches as the kernel counted, and few
more. In a storm, the creation and the last switch of each short task are there. Events that are missing must
be counted as lost."""
import collections
import json
import re
import sys

said, info = open(sys.argv[1]).read(), json.load(open(sys.argv[3]))
SWITCH = re.compile(r" sched_switch: .* prev_tid = (\d+), prev_prio = -?\d+, prev_state = (\d+),")
FORK = re.compile(r" sched_process_fork: .* child_tid = (\d+)")
MORE = 10  # the thread also sleeps before and after the counted section
DEAD = 0x10 | 0x20 | 0x40
voluntary, born, died = collections.Counter(), set(), set()
for line in open(sys.argv[2]):
    match = SWITCH.search(line)
    if match and int(match[2]):
        voluntary[int(match[1])] += 1
        if int(match[2]) & DEAD:
            died.add(int(match[1]))
    match = FORK.search(line)
    if match:
        born.add(int(match[1]))

lost = sum(info["kernel"]["lost_events"])
bad = []
tasks = re.findall(r"^task (\d+) (\w+) switches (\d+)$", said, re.M)
for tid, how, n in ((int(tid), how, int(n)) for tid, how, n in tasks):
    if not n - lost <= voluntary[tid] <= n + MORE:
        bad.append(f"{how} (tid {tid}): {voluntary[tid]} voluntary switches recorded, the kernel counted {n}")
    if how != "main" and tid not in born and not lost:
        bad.append(f"{how} (tid {tid}): its creation is not recorded")
for lives in re.findall(r"^lives (\d+)$", said, re.M):
    for what, found in (("births", born), ("deaths", died & born)):
        if not int(lives) - lost <= len(found) <= int(lives):
            bad.append(f"{len(found)} {what} recorded and {lost} lost, of {lives}")
if not tasks and not re.search("^lives", said, re.M):
    bad.append("thread_creation printed nothing")
for line in bad:
    print(line)
sys.exit(bool(bad))
