#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/pbzip2.py BUILD PROGRAM INPUT DIR

Profiles pbzip2 compressing INPUT with four threads, and checks what gprof-mt says against what is
known of the work: the size of the input, the file that came out, and pbzip2's source.
Prints a line for each claim and closes with "N passed, N failed, N skipped"."""
import json
import os
import re
import shutil
import subprocess
import sys

from ways import Claims, expect

THREADS = 4
BLOCK_BYTES = 900000  # pbzip2's default: bzip2 -9
SWITCH_NS = 10_000  # the kernel charges a thread with its switches, the report does not
STREAM_START = b"BZh91AY&SY"  # header and block magic; byte-aligned only where a stream starts


class Run:
    """One profiled compression, and its reports."""

    def __init__(self, build, program, input_file, directory):
        self.gprof_mt = os.path.join(build, "gprof-mt")
        self.program, self.input, self.directory = program, input_file, directory
        self.capture = os.path.join(directory, "capture")
        self.output = os.path.join(directory, "profiled.bz2")
        self.plain = os.path.join(directory, "plain.bz2")
        self.blocks = -(-os.path.getsize(input_file) // BLOCK_BYTES)
        self.reports = {}
        self.witness = os.path.join(directory, "cpu")
        self.stolen_ns = 0

    def command(self):
        return [self.program, "-k", "-c", f"-p{THREADS}", self.input]

    def record(self):
        # Without the profiler, mcount is glibc's; its gmon.out goes with the directory.
        with open(self.plain, "wb") as out:
            plain = subprocess.run(self.command(), stdout=out, stderr=subprocess.PIPE,
                                   cwd=self.directory, check=True)
        library = os.path.join(self.directory, "witness.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "witness.c")
        subprocess.run([os.environ.get("CC", "gcc"), "-O1", "-fPIC", "-shared", "-o", library, source], check=True)
        before_ns = stolen_ns()
        with open(self.output, "wb") as out:
            done = subprocess.run([self.gprof_mt, "record", "-q", "-o", self.capture, "--profile",
                                   "full-sched", "--"] + self.command(),
                                  stdout=out, stderr=subprocess.PIPE, cwd=self.directory, text=True,
                                  env=dict(os.environ, LD_PRELOAD=library, CPU_WITNESS=self.witness))
        self.stolen_ns = stolen_ns() - before_ns
        expect(done.returncode == 0, f"exit status {done.returncode}: {done.stderr[-500:]}")
        expect(plain.stderr.decode() == done.stderr, f"stderr differs: {done.stderr[-500:]}")

    def report(self, section):
        if section not in self.reports:
            done = subprocess.run([self.gprof_mt, "report", "-i", self.capture, "--format", "json",
                                   section], capture_output=True, text=True)
            expect(done.returncode == 0, f"report {section}: {done.stderr[-500:]}")
            self.reports[section] = json.loads(done.stdout)
            expect(self.reports[section]["schema"] == 1, f"schema of {section} is not 1")
        return self.reports[section]

    def threads(self):
        return self.report("threads")["threads"]

    def arcs(self):
        return self.report("callgraph")["arcs"]

    def calls(self, to, frm=None):
        """Calls of functions whose name starts with `to` (and from `frm`), by thread."""
        by_tid = {}
        for arc in self.arcs():
            if names(arc["to"], to) and (frm is None or names(arc["from"], frm)):
                by_tid[arc["tid"]] = by_tid.get(arc["tid"], 0) + arc["calls"]
        return by_tid


def stolen_ns():
    """What interrupts and the hypervisor took so far, of all CPUs: threads run on meanwhile, but are
    not charged with it."""
    with open("/proc/stat") as file:
        ticks = file.readline().split()
    return sum(int(t) for t in ticks[6:9]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def names(symbol, function):
    """Whether a symbol, demangled or not, is that function of pbzip2's."""
    bare = re.sub(r"\(.*", "", symbol)
    return bare == function or symbol.startswith(f"_Z{len(function)}{function}")


def claim_output(run):
    with open(run.output, "rb") as profiled, open(run.plain, "rb") as plain:
        expect(profiled.read() == plain.read(), "not the file that an unprofiled run writes")
    decompress = subprocess.Popen(["bzip2", "-dc", run.output], stdout=subprocess.PIPE)
    same = subprocess.run(["cmp", "-", run.input], stdin=decompress.stdout, capture_output=True)
    decompress.stdout.close()
    expect(decompress.wait() == 0 and same.returncode == 0, "does not decompress to the input")


def claim_blocks(run):
    with open(run.output, "rb") as file:
        streams = file.read().count(STREAM_START)
    expect(streams == run.blocks, f"{streams} streams in the file, {run.blocks} blocks of input")
    by_tid = run.calls("outputBufferAdd", "consumer")
    expect(sum(by_tid.values()) == run.blocks,
           f"outputBufferAdd was called {sum(by_tid.values())} times for {run.blocks} blocks")
    expect(sum(run.calls("outputBufferAdd").values()) == run.blocks, "and from elsewhere")
    return f"{run.blocks} blocks, by thread {sorted(by_tid.values())}"


def claim_once(run):
    for function in ("main", "producer", "queueInit", "queueDelete", "fileWriter", "mutexesInit",
                     "signalHandlerProc", "terminatorThreadProc"):
        calls = run.calls(function)
        expect(list(calls.values()) == [1], f"{function}: {calls}, not once by one thread")
    expect(sorted(run.calls("consumer").values()) == [1] * THREADS, f"{run.calls('consumer')}")


def claim_threads(run):
    threads = run.threads()
    # main (which is the producer too), signal handler, terminator, writer, and the consumers.
    expect(len(threads) == 4 + THREADS, f"{len(threads)} threads")
    expect(len({(t["pid"], t["index"]) for t in threads}) == len(threads), "an index twice")
    with_arcs = {arc["tid"] for arc in run.arcs()}
    without = [t["tid"] for t in threads if t["tid"] not in with_arcs]
    expect(not without, f"threads without a call graph: {without}")
    per_thread = {t["tid"]: t["calls"] for t in threads}
    for tid in per_thread:
        arcs = sum(arc["calls"] for arc in run.arcs() if arc["tid"] == tid)
        expect(per_thread[tid] == arcs, f"thread {tid}: {per_thread[tid]} calls, {arcs} in arcs")


def claim_gprof(run):
    """Stock gprof, reading each thread's file, finds the same calls."""
    files = [os.path.join(folder, name) for folder, _, inside in os.walk(run.capture)
             for name in inside if name.startswith("gmon.") and name != "gmon.out"]
    expect(len(files) == 4 + THREADS, f"{len(files)} gmon files")
    total = 0
    for file in files:
        tid = int(file.rsplit(".", 1)[1])
        done = subprocess.run(["gprof", "-b", "-p", "--no-demangle", run.program, file],
                              capture_output=True, text=True)
        expect(done.returncode == 0, f"gprof {file}: {done.stderr[-300:]}")
        found = re.findall(r"^ +\S+ +\S+ +\S+ +(\d+) .*_Z15outputBufferAdd", done.stdout, re.M)
        calls = int(found[0]) if found else 0
        expect(calls == run.calls("outputBufferAdd").get(tid, 0), f"gprof differs for {tid}")
        total += calls
    expect(total == run.blocks, f"{total} in gprof")


def claim_locks(run):
    locks = run.report("locks")["locks"]
    site = re.compile(r"\b(pbzip2|ErrorContext)\.cpp:[1-9]\d*\b")
    for kind, wanted in (("mutex", 5), ("cond", 3)):
        mine = [lock for lock in locks if kind in lock["type"]]
        located = [lock for lock in mine if any(site.search(json.dumps(s)) for s in lock["sites"])]
        expect(len(located) >= wanted, f"{len(located)} of {len(mine)} {kind} located: {mine}"[:600])
        bare = [lock["object"] for lock in mine if lock not in located and lock["acquired"]]
        expect(not bare, f"{kind} without a source location: {bare}")
    known = {lock["name"] for lock in locks}
    for name in ("ProgressIndicatorsMutex", "TerminateFlagMutex"):
        expect(any(name in (k or "") for k in known), f"no object named {name}: {known}")


def claim_sync(run):
    """The queue's two ends: one signal of notEmpty for each block, at least one lock for each."""
    rows = run.report("sync")["sync"]
    signals = sum(r["calls"] for r in rows if "cond_signal" in r["function"])
    expect(signals >= 2 * run.blocks, f"{signals} cond_signal for {run.blocks} blocks put and taken")
    locks = sum(r["calls"] for r in rows if "mutex_lock" in r["function"])
    unlocks = sum(r["calls"] for r in rows if "mutex_unlock" in r["function"])
    expect(locks == unlocks and locks > 2 * run.blocks, f"{locks} locks, {unlocks} unlocks")


def claim_time(run):
    worst = 0
    for t in run.threads():
        parts = (t["running_ns"] + t["runnable_ns"] + t["blocked_sync_ns"] + t["blocked_io_ns"] +
                 t["blocked_other_ns"])
        lifetime = t["end_ns"] - t["start_ns"]
        expect(lifetime > 0, f"thread {t['tid']} has no lifetime")
        off = abs(parts - lifetime) / lifetime
        expect(off <= 0.01, f"thread {t['tid']}: parts {parts}, lifetime {lifetime}")
        worst = max(worst, off)
    busy = sorted((t["running_ns"] for t in run.threads()), reverse=True)[:THREADS]
    expect(sum(busy) > 0, "no thread ran")
    return f"worst {100 * worst:.4f} %"


def claim_cpu(run):
    """The time that threads ran, added up, is the CPU time that the kernel counted for the process."""
    pids = {t["pid"] for t in run.threads()}
    expect(len(pids) == 1, f"processes {pids}")
    with open(f"{run.witness}.{pids.pop()}") as file:
        counted = int(file.read())
    running = sum(t["running_ns"] for t in run.threads())
    switches = sum(t["switches_voluntary"] + t["switches_involuntary"] for t in run.threads())
    expect(0.98 * counted - switches * SWITCH_NS <= running <= 1.02 * counted + run.stolen_ns,
           f"threads ran {running} ns, the kernel counted {counted} and {run.stolen_ns} stolen; {switches} switches")
    return f"{100 * (running / counted - 1):+.2f} %"


def claim_babeltrace(run):
    done = subprocess.run(["babeltrace2", run.capture, "--component", "sink.utils.counter"],
                          capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr[-300:])
    events = int(re.search(r"(\d+) Event messages", done.stdout).group(1))
    expect(events > run.blocks, f"{events} events")
    return f"{events} events"


def main():
    build, program, input_file, directory = map(os.path.abspath, sys.argv[1:])
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    run = Run(build, program, input_file, directory)
    claims = Claims("pbzip2")
    for name, claim in (
        ("runs as it does unprofiled", Run.record),
        ("writes the same file, which decompresses to the input", claim_output),
        ("one call for each block compressed", claim_blocks),
        ("functions called once are counted once", claim_once),
        ("every thread has its call graph", claim_threads),
        ("stock gprof agrees, thread by thread", claim_gprof),
        ("mutexes and condition variables have source locations", claim_locks),
        ("locks are balanced, signals accounted for", claim_sync),
        ("running + runnable + blocked = lifetime, within 1 %", claim_time),
        ("threads ran as long as the kernel counted, within 2 %", claim_cpu),
        ("babeltrace2 reads the capture", claim_babeltrace),
    ):
        claims.check(name, lambda: claim(run))
    return claims.close()


sys.exit(main())
