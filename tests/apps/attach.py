#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/attach.py BUILD DIR [TIMES]

Attaches `gprof-mt record --pid` TIMES times (default: 100) to redis-server of the distribution, with four I/O threads,
while clients compare every answer.  The server must lose no answer, descriptor, mapping or signal, and each capture
must be complete.  CPU time and switches of each thread must agree with the kernel's own account.  The last line is
"N passed, N failed, N skipped"."""
import glob
import json
import os
import shutil
import subprocess
import sys
import threading

from redis import Server
from ways import Claims, Skip, expect

CLIENTS = 3
DURATION = "20ms"
TICK_NS = 10_000_000  # the kernel adds CPU time to its account at a switch or a tick
SWITCH_NS = 10_000  # ... with the work of the switch before the event of it
STATUS = ("SigPnd", "SigBlk", "SigIgn", "SigCgt", "TracerPid")


class Client(threading.Thread):
    """Sets and gets values until it is stopped, by a connection of its own."""

    def __init__(self, server):
        super().__init__()
        self.server, self.stop, self.answers, self.error = server, threading.Event(), 0, None

    def run(self):
        connection = Server.__new__(Server)
        connection.folder, connection.process, connection.file = self.server.folder, self.server.process, None
        try:
            connection.connect()
            while not self.stop.is_set():
                correct = connection.values()
                expect(correct == 200, f"expected 200 values as set, got {correct}")
                self.answers += correct
            connection.file.close()
        except Exception as error:  # the claim reports it
            self.error = error


def state(pid):
    """What a recording could change in the process; the heap and the stacks of threads are its own."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        status = [line.split() for line in file if line.startswith(STATUS)]
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        files = [line.split()[1:] for line in file if "/" in line]
    names = {fd: os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    descriptors = [[name] for name in names.values() if not name.startswith("socket:")]
    return sorted(" ".join(words) for words in status + files + descriptors)


def account(pid):
    """Run time, voluntary and involuntary switches of each thread, as the kernel counts them."""
    threads = {}
    for path in glob.glob(f"/proc/{pid}/task/*"):
        with open(path + "/schedstat", encoding="utf-8") as file:
            run_ns = int(file.read().split()[0])
        with open(path + "/status", encoding="utf-8") as file:
            switches = [int(line.split()[1]) for line in file if "ctxt_switches" in line]
        threads[int(os.path.basename(path))] = (run_ns, *switches)
    return threads


class Attached:
    def __init__(self, build, directory, times):
        self.gprof_mt = os.path.join(build, "gprof-mt")
        self.directory, self.times = directory, times
        self.server, self.clients, self.before = None, [], None

    def record(self, *arguments, during=None):
        """Returns the tables of a recording that is ended by its duration, or, with `during`, as by Ctrl-C after it."""
        capture = os.path.join(self.directory, "capture")
        command = [self.gprof_mt, "record", "-o", capture, "--pid", str(self.server.process.pid), *arguments]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            lines = [process.stderr.readline()]
            if during:
                expect("attached to process" in lines[0], f"expected to attach, got {lines[0]}")
                during()
                process.send_signal(2)
            lines += process.stderr.readlines()
        expect(process.returncode == 0, f"record: expected exit status 0, got {process.returncode}: {lines}")
        expect(any(line.rstrip().endswith("complete") for line in lines), f"expected a complete capture, got {lines}")
        done = subprocess.run([self.gprof_mt, "report", "-i", capture, "--format", "json", "summary", "threads",
                               "quality"], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"report: expected exit status 0, got {done.returncode}: {done.stderr[-300:]}")
        return json.loads(done.stdout)

    def start(self):
        file = shutil.which("redis-check-rdb")
        if not file:
            raise Skip("redis-tools is not installed")
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        program = os.path.join(self.directory, "redis-server")
        os.symlink(file, program)
        self.server = Server([], program, os.path.join(self.directory, "served"))
        self.server.connect()
        expect(self.server.values() == 200, "expected 200 values as set")
        # A new log would be another file.
        self.server.ask(b"config", b"set", b"auto-aof-rewrite-percentage", b"0")
        self.clients = [Client(self.server) for _ in range(CLIENTS)]
        for client in self.clients:
            client.start()
        self.before = state(self.server.process.pid)
        return f"{len(account(self.server.process.pid))} threads"

    def running(self):
        if not self.server:
            raise Skip("no server")

    def claim_account(self):
        self.running()
        pid = self.server.process.pid
        inner, answers = [], sum(client.answers for client in self.clients)

        def during():
            inner.append(account(pid))
            self.server.poll("answers", lambda: sum(c.answers for c in self.clients) > answers + 2000)
            inner.append(account(pid))

        first = account(pid)
        tables = self.record(during=during)
        last = account(pid)
        rows = {row["tid"]: row for row in tables["threads"]}
        for tid, (run_ns, *switches) in inner[0].items():
            row = rows[tid]
            n_switches = row["switches_voluntary"] + row["switches_involuntary"]
            least = inner[1][tid][0] - run_ns - TICK_NS - n_switches * SWITCH_NS
            most = last[tid][0] - first[tid][0] + TICK_NS
            expect(least <= row["running_ns"] <= most, f"running of {row['name']}: expected {least} to {most}, "
                                                       f"got {row['running_ns']}")
            for i, key in enumerate(("switches_voluntary", "switches_involuntary"), 1):
                least, most = inner[1][tid][i] - switches[i - 1], last[tid][i] - first[tid][i]
                expect(least <= row[key] <= most, f"{key} of {row['name']}: expected {least} to {most}, got {row[key]}")
        lost = [p for p in tables["quality"] if "lost" in p["what"]]
        expect(not lost, f"expected no losses, found {lost[:3]}")
        return f"{sum(row['running_ns'] for row in rows.values()) / 1e6:.0f} ms of CPU time in " \
               f"{tables['summary'][0]['wall_ns'] / 1e6:.0f} ms"

    def claim_times(self):
        self.running()
        for _ in range(self.times):
            tables = self.record("--duration", DURATION)
            names = {row["name"] for row in tables["threads"]}
            expect(len(tables["threads"]) >= len(account(self.server.process.pid)) and "redis-server" in names,
                   f"expected all threads, found {names}")
        return f"{self.times} times"

    def claim_unchanged(self):
        self.running()
        now = state(self.server.process.pid)
        expect(now == self.before, f"expected the state of the process as before, got {set(now) ^ set(self.before)}")

    def claim_answers(self):
        self.running()
        for client in self.clients:
            client.stop.set()
        for client in self.clients:
            client.join()
            if client.error:
                raise client.error
        status, _ = self.server.end()
        expect(status == 0, f"redis-server: expected exit status 0, got {status}")
        return f"{sum(client.answers for client in self.clients)} answers"


def main():
    times = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    attached, claims = Attached(*map(os.path.abspath, sys.argv[1:3]), times), Claims("attach")
    claims.check("redis-server runs", attached.start)
    claims.check("CPU time and switches of each thread as the kernel counts them", attached.claim_account)
    claims.check("each recording is complete and shows all threads", attached.claim_times)
    claims.check("descriptors, mappings and signals are those of before", attached.claim_unchanged)
    claims.check("every answer is right, and the server ends as asked", attached.claim_answers)
    return claims.close()


if __name__ == "__main__":
    sys.exit(main())
