#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py CAPTURE ORDER_NS: checks in babeltrace2's text of a recording of `baton` that no effect is stamped
more than ORDER_NS before its cause. Prints the largest such distance; exit status 1 if it is too large."""
import glob
import os
import re
import struct
import subprocess
import sys

LINE = re.compile(r"^\[(\d+)\] .*? (?:\(\d+\)|\S+) (\w+): (.*)$")
FIELD = re.compile(r"(\w+) = (0x[0-9A-F]+|-?\d+)")


def events(capture):
    text = subprocess.run(["babeltrace2", "--clock-cycles", capture], check=True, text=True,
                          capture_output=True).stdout
    for line in text.splitlines():
        found = LINE.match(line)
        if found:
            fields = FIELD.findall(found[3])
            yield int(found[1]), found[2], dict((k, int(v, 0)) for k, v in reversed(fields)), fields


def helper_times(capture):
    """The times at which helpers opened files for the libraries; each then wakes the thread."""
    times = []
    for file in glob.glob(os.path.join(capture, "*", "helpers")):
        with open(file, "rb") as records:
            times += [(begin, end + 1000000) for _, _, begin, end in struct.iter_unpack("=IIQQ", records.read())]
    return times


class Checks:
    def __init__(self, order_ns):
        self.order_ns, self.bad, self.n = order_ns, 0, {}

    def after(self, what, cause_ns, effect_ns):
        """The effect's time must not lie more than order_ns before that of its cause."""
        n, nearest = self.n.get(what, (0, 1 << 62))
        self.n[what] = (n + 1, min(nearest, effect_ns - cause_ns))
        if effect_ns < cause_ns - self.order_ns:
            self.bad += 1
            if self.bad < 10:
                print(f"{what}: effect {cause_ns - effect_ns} ns before its cause at {cause_ns}")


def main():
    checks = Checks(int(sys.argv[2]))
    posts, waits, begins, wakings, holds = {}, {}, {}, {}, []
    locked = {}
    for ns, name, fields, order in events(sys.argv[1]):
        tid = fields.get("tid")
        if name == "sem_post":
            posts.setdefault(fields["object"], []).append((ns, tid))
        elif name == "sem_wait":
            waits.setdefault(fields["object"], []).append((ns, tid))
        elif name == "sem_wait_begin":
            begins.setdefault(tid, []).append(ns)
        elif name == "mutex_lock":
            locked[tid] = ns
        elif name == "mutex_unlock":
            holds.append((locked.pop(tid), ns))
        elif name == "sched_waking":
            wakings.setdefault([int(v) for k, v in order if k == "tid"][-1], []).append(ns)

    # The n-th wait is the effect of the n-th post.
    for sem, posted in posts.items():
        if len(posted) != len(waits[sem]):
            sys.exit(f"expected as many waits as posts, got {len(waits[sem])} and {len(posted)}")
        for (post_ns, _), (wait_ns, _) in zip(posted, waits[sem]):
            checks.after("post and wait", post_ns, wait_ns)

    # A thread that sleeps in a wait is woken by the post that causes the wait's end, and continues after
    # that, unless a helper woke it or it waited for the kernel meanwhile.
    helped = helper_times(sys.argv[1])
    for sem, waited in waits.items():
        tid, last_ns = waited[0][1], 0
        for (post_ns, _), (wait_ns, _) in zip(posts[sem], waited):
            began = [ns for ns in begins.get(tid, []) if last_ns < ns <= wait_ns]
            if began and any(begin <= wait_ns and began[0] <= end for begin, end in helped):
                began = []
            woken = [ns for ns in wakings.get(tid, [])
                     if began and began[0] <= ns <= wait_ns + checks.order_ns]
            if len(woken) == 1:
                checks.after("post and waking", post_ns, woken[0])
                checks.after("waking and wait", woken[0], wait_ns)
            last_ns = wait_ns

    # A mutex is taken after it was given back.
    holds.sort()
    for (_, given_back), (taken, _) in zip(holds, holds[1:]):
        checks.after("unlock and lock", given_back, taken)

    for what, (n, nearest) in checks.n.items():
        print(f"{what}: {n}, nearest {nearest} ns")
    for what in ("post and wait", "unlock and lock"):
        if checks.n.get(what, (0,))[0] < 100:
            sys.exit(f"nothing to check: {what}")
    sys.exit(checks.bad > 0)


main()
