#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/pbzip2.py BUILD PROGRAM INPUT DIR

Profiles pbzip2, which compresses INPUT with four threads, and checks the reports of gprof-mt against known
facts: the size of the input, the output file, and pbzip2's source.
Prints a line for each claim; the last line is "N passed, N failed, N skipped"."""
import json
import os
import re
import shutil
import subprocess
import sys

from ways import Claims, expect

THREADS = 4
BLOCK_BYTES = 900000  # pbzip2's default: bzip2 -9
SWITCH_NS = 10_000  # the kernel counts the time of a switch as the thread's CPU time, the report does not
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
        # Without the profiler, glibc's mcount runs and leaves a gmon.out in the directory.
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
        expect(done.returncode == 0, f"expected exit status 0, got {done.returncode}: {done.stderr[-500:]}")
        expect(plain.stderr.decode() == done.stderr, f"expected the stderr {plain.stderr[-500:]}, got "
                                                     f"{done.stderr[-500:]!r}")

    def report(self, section):
        if section not in self.reports:
            done = subprocess.run([self.gprof_mt, "report", "-i", self.capture, "--format", "json",
                                   section], capture_output=True, text=True)
            expect(done.returncode == 0, f"report {section}: expected exit status 0, got {done.returncode}: "
                                         f"{done.stderr[-500:]}")
            self.reports[section] = json.loads(done.stdout)
            expect(self.reports[section]["schema"] == 1, f"{section}: expected schema 1, got "
                                                         f"{self.reports[section]['schema']}")
        return self.reports[section]

    def threads(self):
        return self.report("threads")["threads"]

    def arcs(self):
        return self.report("callgraph")["arcs"]

    def calls(self, to, frm=None):
        """Returns the calls of the function `to` (from `frm`, if given) by thread."""
        by_tid = {}
        for arc in self.arcs():
            if names(arc["to"], to) and (frm is None or names(arc["from"], frm)):
                by_tid[arc["tid"]] = by_tid.get(arc["tid"], 0) + arc["calls"]
        return by_tid


def stolen_ns():
    """Returns the time that interrupts and the hypervisor have taken on all CPUs.  Threads count as running
    meanwhile, but the kernel does not count it as their CPU time."""
    with open("/proc/stat") as file:
        ticks = file.readline().split()
    return sum(int(t) for t in ticks[6:9]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def names(symbol, function):
    """Returns whether a symbol, demangled or not, is this function of pbzip2."""
    bare = re.sub(r"\(.*", "", symbol)
    return bare == function or symbol.startswith(f"_Z{len(function)}{function}")


def claim_output(run):
    with open(run.output, "rb") as profiled, open(run.plain, "rb") as plain:
        expect(profiled.read() == plain.read(), "expected the same output file as unprofiled, found another one")
    decompress = subprocess.Popen(["bzip2", "-dc", run.output], stdout=subprocess.PIPE)
    same = subprocess.run(["cmp", "-", run.input], stdin=decompress.stdout, capture_output=True)
    decompress.stdout.close()
    expect(decompress.wait() == 0 and same.returncode == 0, "expected the input after decompression, found other data")


def claim_blocks(run):
    with open(run.output, "rb") as file:
        streams = file.read().count(STREAM_START)
    expect(streams == run.blocks, f"expected {run.blocks} streams in the file, one for each block of input, found "
                                  f"{streams}")
    by_tid = run.calls("outputBufferAdd", "consumer")
    expect(sum(by_tid.values()) == run.blocks,
           f"expected {run.blocks} calls of outputBufferAdd from consumer, found {sum(by_tid.values())}")
    expect(sum(run.calls("outputBufferAdd").values()) == run.blocks,
           "expected calls of outputBufferAdd only from consumer, found other callers")
    return f"{run.blocks} blocks, by thread {sorted(by_tid.values())}"


def claim_once(run):
    for function in ("main", "producer", "queueInit", "queueDelete", "fileWriter", "mutexesInit",
                     "signalHandlerProc", "terminatorThreadProc"):
        calls = run.calls(function)
        expect(list(calls.values()) == [1], f"{function}: expected one call by one thread, found {calls}")
    expect(sorted(run.calls("consumer").values()) == [1] * THREADS,
           f"consumer: expected one call by each of {THREADS} threads, found {run.calls('consumer')}")


def claim_threads(run):
    threads = run.threads()
    # main (also the producer), signal handler, terminator, writer, and the consumers.
    expect(len(threads) == 4 + THREADS, f"expected {4 + THREADS} threads, found {len(threads)}")
    expect(len({(t["pid"], t["index"]) for t in threads}) == len(threads),
           "expected each thread index once, found one twice")
    with_arcs = {arc["tid"] for arc in run.arcs()}
    without = [t["tid"] for t in threads if t["tid"] not in with_arcs]
    expect(not without, f"expected a call graph for each thread, found none for {without}")
    per_thread = {t["tid"]: t["calls"] for t in threads}
    for tid in per_thread:
        arcs = sum(arc["calls"] for arc in run.arcs() if arc["tid"] == tid)
        expect(per_thread[tid] == arcs, f"thread {tid}: expected {per_thread[tid]} calls in its arcs, found {arcs}")


def claim_gprof(run):
    """Stock gprof finds the same calls in each thread's file."""
    files = [os.path.join(folder, name) for folder, _, inside in os.walk(run.capture)
             for name in inside if name.startswith("gmon.") and name != "gmon.out"]
    expect(len(files) == 4 + THREADS, f"expected {4 + THREADS} gmon files, found {len(files)}")
    total = 0
    for file in files:
        tid = int(file.rsplit(".", 1)[1])
        done = subprocess.run(["gprof", "-b", "-p", "--no-demangle", run.program, file],
                              capture_output=True, text=True)
        expect(done.returncode == 0, f"gprof {file}: expected exit status 0, got {done.returncode}: "
                                     f"{done.stderr[-300:]}")
        found = re.findall(r"^ +\S+ +\S+ +\S+ +(\d+) .*_Z15outputBufferAdd", done.stdout, re.M)
        calls = int(found[0]) if found else 0
        wanted = run.calls("outputBufferAdd").get(tid, 0)
        expect(calls == wanted, f"thread {tid}: expected {wanted} calls of outputBufferAdd in gprof, found {calls}")
        total += calls
    expect(total == run.blocks, f"expected {run.blocks} calls of outputBufferAdd in gprof, found {total}")


def claim_locks(run):
    locks = run.report("locks")["locks"]
    site = re.compile(r"\b(pbzip2|ErrorContext)\.cpp:[1-9]\d*\b")
    for kind, wanted in (("mutex", 5), ("cond", 3)):
        mine = [lock for lock in locks if kind in lock["type"]]
        located = [lock for lock in mine if any(site.search(json.dumps(s)) for s in lock["sites"])]
        expect(len(located) >= wanted, f"expected {wanted} {kind} with a source line, found {len(located)} of "
                                       f"{len(mine)}: {mine}"[:600])
        bare = [lock["object"] for lock in mine if lock not in located and lock["acquired"]]
        expect(not bare, f"expected a source line for each {kind}, found none for {bare}")
    known = {lock["name"] for lock in locks}
    for name in ("ProgressIndicatorsMutex", "TerminateFlagMutex"):
        expect(any(name in (k or "") for k in known), f"expected an object named {name}, found {known}")


def claim_sync(run):
    """Both ends of the queue: two signals for each block, one per end, and more than two locks per block."""
    rows = run.report("sync")["sync"]
    signals = sum(r["calls"] for r in rows if "cond_signal" in r["function"])
    expect(signals >= 2 * run.blocks, f"expected {2 * run.blocks} or more cond_signal for {run.blocks} blocks, "
                                      f"found {signals}")
    locks = sum(r["calls"] for r in rows if "mutex_lock" in r["function"])
    unlocks = sum(r["calls"] for r in rows if "mutex_unlock" in r["function"])
    expect(locks == unlocks and locks > 2 * run.blocks, "expected as many unlocks as locks, more than "
                                                        f"{2 * run.blocks}, found {locks} locks and {unlocks} unlocks")


def claim_time(run):
    worst = 0
    for t in run.threads():
        parts = (t["running_ns"] + t["runnable_ns"] + t["blocked_sync_ns"] + t["blocked_io_ns"] +
                 t["blocked_other_ns"])
        lifetime = t["end_ns"] - t["start_ns"]
        expect(lifetime > 0, f"thread {t['tid']}: expected a lifetime above 0, found {lifetime} ns")
        off = abs(parts - lifetime) / lifetime
        expect(off <= 0.01, f"thread {t['tid']}: expected parts that add up to {lifetime} ns, found {parts} ns")
        worst = max(worst, off)
    busy = sorted((t["running_ns"] for t in run.threads()), reverse=True)[:THREADS]
    expect(sum(busy) > 0, "expected time running, found none in any thread")
    return f"worst {100 * worst:.4f} %"


def claim_cpu(run):
    """The sum of the threads' running time is the CPU time that the kernel counted for the process."""
    pids = {t["pid"] for t in run.threads()}
    expect(len(pids) == 1, f"expected one process, found {pids}")
    with open(f"{run.witness}.{pids.pop()}") as file:
        counted = int(file.read())
    running = sum(t["running_ns"] for t in run.threads())
    switches = sum(t["switches_voluntary"] + t["switches_involuntary"] for t in run.threads())
    expect(0.98 * counted - switches * SWITCH_NS <= running <= 1.02 * counted + run.stolen_ns,
           f"expected {counted} ns of running time, as the kernel counted (and {run.stolen_ns} ns stolen, "
           f"{switches} switches), found {running} ns")
    return f"{100 * (running / counted - 1):+.2f} %"


def claim_babeltrace(run):
    done = subprocess.run(["babeltrace2", run.capture, "--component", "sink.utils.counter"],
                          capture_output=True, text=True)
    expect(done.returncode == 0, f"babeltrace2: expected exit status 0, got {done.returncode}: {done.stderr[-300:]}")
    events = int(re.search(r"(\d+) Event messages", done.stdout).group(1))
    expect(events > run.blocks, f"expected more than {run.blocks} events, found {events}")
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
        ("locks are balanced, signals are complete", claim_sync),
        ("running + runnable + blocked = lifetime, within 1 %", claim_time),
        ("threads ran as long as the kernel counted, within 2 %", claim_cpu),
        ("babeltrace2 reads the capture", claim_babeltrace),
    ):
        claims.check(name, lambda: claim(run))
    return claims.close()


sys.exit(main())
