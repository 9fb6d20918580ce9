# SPDX-License-Identifier: MIT
"""walk.py KERNEL_TEXT REPORT OFFSET_NS [SEGMENTS]: compares the critical path of `report threads critical-path`
with one found by walking backward through the kernel's events as babeltrace2 prints them.

The report goes forward and drops what is not on the path; this program keeps all wake-ups and follows them
from the end of the main thread to its start. Each thread's share and each segment must be the same. SEGMENTS:
output file with one line per segment: tid, begin and end on CLOCK_MONOTONIC."""
import json
import re
import sys
from bisect import bisect_right
from collections import defaultdict

FIELD = re.compile(r"(\w+) = (-?\d+|\"[^\"]*\")")
report = json.load(open(sys.argv[2]))
threads = {t["tid"]: t for t in report["threads"]}
wakings, asleep, born = defaultdict(list), set(), {}  # tid -> [(time, waker)], ..., tid -> (time, parent)
for line in open(sys.argv[1]):
    head, _, rest = line.partition("] ")
    time = int(head[1:].replace(".", ""))
    name = re.search(r" (sched_\w+): ", line)
    field = dict(FIELD.findall(rest))
    if not name:
        continue
    if name[1] == "sched_switch":
        asleep.discard(int(field["next_tid"]))
        if int(field["prev_state"]) & 0xff:
            asleep.add(int(field["prev_tid"]))
    elif name[1] == "sched_waking":
        # The first field is the waker, in whose context the event is; the second the woken thread.
        waker, woken = (int(tid) for tid in re.findall(r" tid = (\d+)", line))
        if woken in asleep and woken in threads:
            asleep.discard(woken)
            if "irq = 0" in line and waker in threads and waker != woken:
                wakings[woken].append((time, waker))
    elif name[1] == "sched_process_fork":
        born[int(field["child_tid"])] = (time, int(field["parent_tid"]))

offset = int(sys.argv[3])
rows = {r["tid"]: r for r in report["critical_threads"]}
length = sum(r["path_ns"] for r in rows.values())
main = min(report["threads"], key=lambda t: t["start_ns"])
now, tid = main["end_ns"] + offset, main["tid"]
begin, share, segments = now - length, defaultdict(int), []
while now > begin:
    at = bisect_right(wakings[tid], (now, 1 << 62))
    if at:
        then, waker = wakings[tid][at - 1]
        del wakings[tid][at - 1:]
    else:
        then, waker = born.get(tid, (begin, None))
    then = max(then, begin)
    share[tid] += now - then
    segments.append(f"{tid} {then - offset} {now - offset}\n")
    now, tid = then, waker
    if tid not in threads:
        break
if len(sys.argv) > 4:
    open(sys.argv[4], "w").writelines(segments)
bad = 0
for tid in set(share) | set(rows):
    ours, other = rows[tid]["path_ns"] if tid in rows else 0, share[tid]
    if abs(ours - other) > 0.01 * length:
        print(f"FAIL: thread {tid}: expected {other} ns of the path by walking back, got {ours}, of {length}")
        bad += 1
for row in rows.values():
    parts = sum(row[k] for k in row if k.endswith("_ns") and k != "path_ns")
    if parts != row["path_ns"]:
        print(f"FAIL: {row}")
        bad += 1
# From the first segment on; a thread that only passes the wake-up on has none.
walked = [s for s in reversed([tuple(map(int, line.split())) for line in segments]) if s[2] > s[1]]
stretches = report["critical_stretches"]
others = sum(end - since for _, since, end in walked) - sum(s["duration_ns"] for s in stretches)
found = 0
for i, s in enumerate(stretches):
    since, end = s["start_ns"], s["start_ns"] + s["duration_ns"]
    found += sum(max(0, min(end, to) - max(since, at)) for tid, at, to in walked if tid == s["tid"])
    if s["duration_ns"] != sum(s[k] for k in s if k.endswith("_ns") and k not in ("start_ns", "duration_ns")):
        print(f"FAIL: {s}")
        bad += 1
    after = stretches[i + 1] if i + 1 < len(stretches) else {"start_ns": None}
    if after["start_ns"] == end and after["tid"] != s["to_tid"] or s["to_tid"] == s["tid"]:
        print(f"FAIL: {s} leads to {after}")
        bad += 1
if abs(found + others - length) > 0.01 * length:
    print(f"FAIL: of {length} ns, only {found + others} are in segments found by walking back")
    bad += 1
# The next thread, for the segments that both have in common.
alike = {(s["tid"], s["start_ns"], s["start_ns"] + s["duration_ns"]): s["to_tid"] for s in stretches}
for segment, after in zip(walked, walked[1:]):
    if alike.get(segment, after[0]) != after[0]:
        print(f"FAIL: after {segment}: expected {after}, the report has thread {alike[segment]}")
        bad += 1
same = sum(end - since for tid, since, end in walked if (tid, since, end) in alike)
if same + others < 0.9 * length:
    print(f"FAIL: only {same} of {length} ns are in the same segments")
    bad += 1
if now > begin:
    print(f"FAIL: {now - begin} ns of {length} are not found by walking back")
    bad += 1
print(len(rows), "threads on the path,", length, "ns")
sys.exit(bad > 0)
