# SPDX-License-Identifier: MIT
"""rings.py GPROF_MT grow|full|overrun: records `bursts` with small rings and drives it.

grow: `record` is stopped, the program fills more and more of its ring while nobody reads it, and
`record` goes on, until it leaves the ring for a larger one; that is done twice, with bursts while
it moves.  Nothing may be lost or told twice: of each thread as many switches as getrusage() counts,
in an order in which it leaves the CPU as often as it gets it.
full: may not grow; what overflows is counted for its CPU, and shown.
overrun: with tracepoints, where other programs fill the rings, too: a ring that overflowed grows to
the largest at once; what is not recorded is counted as lost, and again nothing is told twice.

The first two by context-switch records, which are of the program alone.  The witness of the rings
is /proc/PID/maps."""
import json
import os
import re
import signal
import subprocess
import sys
import time

GPROF_MT, WHAT = sys.argv[1:]
SMALL = 16384
LARGE = 2 << 20
DEADLINE_S = 120


def fail(text):
    sys.exit("FAIL: " + text)


def until(what, check):
    end = time.monotonic() + DEADLINE_S
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > end:
            fail("timeout: " + what)
        time.sleep(0.002)


class Recording:
    def __init__(self, *settings):
        command = [GPROF_MT, "record", "-o", "data", "--set", "sync.mode=off"]
        for setting in settings:
            command += ["--set", setting]
        self.errors = open("err", "w")
        self.process = subprocess.Popen(command + ["./bursts"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)

    def burst(self, n):
        self.process.stdin.write("%d\n" % n)
        self.process.stdin.flush()
        if self.process.stdout.readline() != "done %d\n" % n:
            fail("no answer from the program: " + open("err").read())

    def held_burst(self, n):
        """While `record` is stopped, so that nothing is read of the rings; they are empty before and after."""
        self.make_read()
        self.process.send_signal(signal.SIGSTOP)
        until("record does not stop", lambda: self.state() == "T")
        self.burst(n)
        self.process.send_signal(signal.SIGCONT)
        self.make_read()

    def make_read(self):
        """By a signal that wakes it; once it has been taken, and `record` sleeps again, it has read."""
        self.process.send_signal(signal.SIGCHLD)
        until("record does not read", lambda: not self.is_pending(signal.SIGCHLD) and self.state() == "S")

    def is_pending(self, number):
        status = open("/proc/%d/status" % self.process.pid).read()
        pending = re.findall(r"(?:SigPnd|ShdPnd):\s*(\w+)", status)
        return any(int(mask, 16) >> (number - 1) & 1 for mask in pending)

    def state(self):
        return open("/proc/%d/stat" % self.process.pid).read().rpartition(") ")[2][0]

    def rings(self):
        """Bytes of each, a page of which is the kernel's."""
        sizes = []
        for line in open("/proc/%d/maps" % self.process.pid):
            match = re.match(r"(\w+)-(\w+) .*\[perf_event\]", line)
            if match:
                sizes.append(int(match[2], 16) - int(match[1], 16) - os.sysconf("SC_PAGESIZE"))
        return sizes

    def end(self):
        """What each thread counted."""
        rest = self.process.communicate()[0]
        if self.process.returncode != 0:
            fail("exit status %d: %s" % (self.process.returncode, open("err").read()))
        said = re.findall(r"thread (\d+) switches (\d+)", rest)
        if len(said) != 2:
            fail("expected two threads, got: " + rest)
        return {int(tid): int(n) for tid, n in said}


def switches():
    """(prev_tid, next_tid) of each, in order."""
    shown = subprocess.run(["babeltrace2", "--clock-seconds", "data/kernel"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    last = 0.0
    for line in shown.stdout.splitlines():
        at = float(line[1:line.index("]")])
        if at < last:
            fail("out of order: " + line)
        last = at
        match = re.search(r" sched_switch: .* prev_tid = (-?\d+), .* next_tid = (-?\d+)", line)
        if match:
            yield int(match[1]), int(match[2])


def compare(counted, found):
    for tid, n in counted.items():
        runs, left = None, 0
        for prev, following in found:
            if tid not in (prev, following):
                continue
            if runs == (following == tid):
                fail("thread %d %s the CPU twice" % (tid, "gets" if runs else "leaves"))
            runs = following == tid
            left += prev == tid
        # The thread switches again after it has counted; the first one also did so before its exec.
        if not n - 10 <= left <= n + 10:
            fail("thread %d left the CPU %d times, getrusage counts %d" % (tid, left, n))


def grow():
    recording = Recording("kernel.source=switches", "kernel.buffer=16K", "kernel.buffer_max=1M")
    recording.burst(1)
    cpus, size, n = len(recording.rings()), SMALL, 90  # of 96 bytes
    if set(recording.rings()) != {size}:
        fail("at the beginning rings of %s" % recording.rings())
    for _ in range(2):
        while max(recording.rings()) == size:
            recording.held_burst(n)
            n += n // 8
        n *= 3
        size = max(recording.rings())
        until("the old ring is not left",
              lambda: recording.burst(5) or recording.make_read() or len(recording.rings()) == cpus)
    counted = recording.end()
    kernel = json.load(open("data/info.json"))["kernel"]
    if any(kernel["lost_events"]):
        fail("lost: %s" % kernel["lost_events"])
    if kernel["ring_bytes"] != SMALL or max(kernel["ring_end_bytes"]) < size:
        fail("grown to %d, info.json has %s" % (size, kernel))
    compare(counted, list(switches()))


def full():
    recording = Recording("kernel.source=switches", "kernel.buffer=16K", "kernel.buffer_max=16K")
    recording.held_burst(3000)
    if set(recording.rings()) != {SMALL}:
        fail("rings of %s, which must not grow" % recording.rings())
    counted = recording.end()
    info = json.load(open("data/info.json"))
    kernel = info["kernel"]
    lost = dict(zip(("kernel, CPU %d" % cpu for cpu in kernel["cpus"]), kernel["lost_events"]))
    told = {loss["where"]: loss["count"] for loss in info["losses"]}
    if {where: n for where, n in lost.items() if n} != told or not any(lost.values()):
        fail("lost %s, reported %s" % (lost, told))
    if set(kernel["ring_end_bytes"]) != {SMALL}:
        fail("info.json: %s" % kernel)
    # Each switch of a thread is a record when it leaves, and one when it comes.
    records = sum(sum(tid in pair for tid in counted) for pair in switches())
    expected = 2 * sum(counted.values())
    if abs(records + sum(lost.values()) - expected) > 40:
        fail("%d records, %d lost, of %d" % (records, sum(lost.values()), expected))
    shown = subprocess.run([GPROF_MT, "report", "-i", "data", "--format", "json", "quality"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    rings = json.loads(shown.stdout)["rings"]
    if {"kernel, CPU %d" % row["cpu"]: row["lost"] for row in rings} != lost:
        fail("the report has %s, lost %s" % (rings, lost))
    if {(row["start_bytes"], row["end_bytes"]) for row in rings} != {(SMALL, SMALL)}:
        fail("the report has %s" % rings)


def overrun():
    recording = Recording("kernel.source=perf", "kernel.buffer=256K", "kernel.buffer_max=2M")
    until("no ring is the largest", lambda: recording.held_burst(10000) or max(recording.rings()) == LARGE)
    recording.burst(2000)
    counted = recording.end()
    kernel = json.load(open("data/info.json"))["kernel"]
    lost, found = sum(kernel["lost_events"]), list(switches())
    if not lost or max(kernel["ring_end_bytes"]) != LARGE:
        fail("info.json: %s" % kernel)
    for tid, n in counted.items():
        left = sum(prev == tid for prev, _ in found)
        if not n - 10 - lost - kernel["filled_switches"] <= left <= n + 10:
            fail("thread %d left the CPU %d times, %d lost, getrusage counts %d" % (tid, left, lost, n))


{"grow": grow, "full": full, "overrun": overrun}[WHAT]()
