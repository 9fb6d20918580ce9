#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/redis.py BUILD DIR

Records redis-server of the distribution, without -pg and without symbols except the dynamic ones, with four I/O threads
and a log that is synchronized, in two bursts of redis-benchmark.  Waits, holds, blocking calls and CPU time must have
their call paths, and an engineer must read in the first lines what the program's source says (networking.c): the main
thread locks io_threads_mutex[] while there is little to do (initThreadedIO, stopThreadedIO), and an I/O thread stops by
locking its own (IOThreadMain); bio.c: three threads wait for jobs.

The file of redis-server is redis-check-rdb, of redis-tools, which starts no service where it is installed.  The last
line is "N passed, N failed, N skipped"."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

from ways import Claims, Skip, expect

DEADLINE_S = 240
LINES_MAX = 10
N_CPUS = 2
KEYS, REQUESTS = 200, 40000
OPTIONS = ["--port", "0", "--unixsocket", "s", "--save", "", "--appendonly", "yes", "--appendfsync", "always",
           "--io-threads", "4", "--io-threads-do-reads", "yes"]


class Server:
    """A server in a folder of its own; commands by its socket."""

    def __init__(self, prefix, program, folder):
        os.makedirs(folder)
        self.folder = folder
        self.output = open(os.path.join(folder, "output"), "wb")
        self.process = subprocess.Popen(prefix + [program] + OPTIONS, cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=self.output, stderr=subprocess.PIPE)
        self.file = None

    def poll(self, what, question):
        end = time.monotonic() + DEADLINE_S
        while not question():
            expect(self.process.poll() is None and time.monotonic() < end,
                   f"expected {what} within {DEADLINE_S} s, found none")
            time.sleep(0.02)

    def connect(self):
        def question():
            try:
                connection = socket.socket(socket.AF_UNIX)
                connection.settimeout(DEADLINE_S)
                connection.connect(os.path.join(self.folder, "s"))
                self.file = connection.makefile("rwb")
                return True
            except OSError:
                return False
        self.poll("a server that listens", question)

    def ask(self, *words):
        """Sends a command; returns the value or the line that answers it."""
        self.file.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        self.file.flush()
        line = self.file.readline()
        if not line.startswith(b"$"):
            return line
        return self.file.read(int(line[1:]) + 2)[:-2]

    def values(self):
        """Sets and gets values; returns how many were those that were set."""
        wanted = {b"own:%d" % i: bytes([33 + i % 90]) * (i * 37 % 5000) for i in range(KEYS)}
        for key, value in wanted.items():
            expect(self.ask(b"set", key, value) == b"+OK\r\n", "set: expected OK")
        return sum(self.ask(b"get", key) == value for key, value in wanted.items())

    def burst(self):
        done = subprocess.run(["redis-benchmark", "-s", "s", "-n", str(REQUESTS), "-c", "50", "-P", "16", "-t",
                               "set,get", "-d", "100", "-q"], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=DEADLINE_S, check=False)
        expect(done.returncode == 0, f"redis-benchmark: expected exit status 0, got {done.returncode}")

    def io_threads_stop(self):
        self.poll("inactive I/O threads", lambda: b"io_threads_active:0" in self.ask(b"info", b"server"))

    def load(self):
        self.connect()
        correct = self.values()
        for _ in range(2):
            self.burst()
            self.io_threads_stop()
        return correct

    def end(self):
        self.file.write(b"*2\r\n$8\r\nshutdown\r\n$6\r\nnosave\r\n")
        self.file.flush()
        _, err = self.process.communicate(timeout=DEADLINE_S)
        self.output.close()
        return self.process.returncode, err.decode(errors="replace")


def serve(prefix, program, folder):
    """Returns (correct values, exit status), and what is on stderr."""
    server = Server(prefix, program, folder)
    try:
        correct = server.load()
        status, err = server.end()
        return (correct, status), err
    finally:
        if server.process.poll() is None:
            server.process.terminate()
            server.process.wait()


class Profile:
    def __init__(self, build, directory):
        self.gprof_mt = os.path.join(build, "gprof-mt")
        self.directory = directory
        self.capture = os.path.join(directory, "capture")
        self.record_lines, self.summary, self.tables = [], [], {}

    def record(self):
        file = shutil.which("redis-check-rdb")
        if not file or not shutil.which("redis-benchmark"):
            raise Skip("redis-tools is not installed")
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        program = os.path.join(self.directory, "redis-server")
        os.symlink(file, program)
        plain, _ = serve([], program, os.path.join(self.directory, "plain"))
        ours, err = serve([self.gprof_mt, "record", "-o", self.capture, "--set", "io.threshold=10us", "--"], program,
                          os.path.join(self.directory, "recorded"))
        expect(plain == ours == (KEYS, 0), f"expected (values, exit status) {(KEYS, 0)}, got {plain}, recorded {ours}")
        self.record_lines = re.findall(r"gprof-mt: (.*)", err)
        expect(len(self.record_lines) <= LINES_MAX, f"expected {LINES_MAX} lines at most, found {self.record_lines}")
        text = self.report("summary")
        self.summary = [line.strip() for line in text.splitlines() if line.startswith("  ")]
        self.tables = json.loads(self.report("--format", "json", "paths", "locks", "threads", "io", "calltree", "quality"))
        return f"{plain[0]} values compared, {len(self.record_lines)} lines"

    def report(self, *arguments):
        done = subprocess.run([self.gprof_mt, "report", "-i", self.capture, *arguments], capture_output=True, text=True,
                              check=False)
        expect(done.returncode == 0, f"report: expected exit status 0, got {done.returncode}: {done.stderr[-300:]}")
        return done.stdout

    def read(self, pattern, never=False):
        """Both texts have a line with this, or neither has."""
        expect(self.tables, "expected a recording, found none")
        for name, lines in (("record", self.record_lines), ("summary", self.summary[:LINES_MAX + 4])):
            found = [line for line in lines if re.search(pattern, line)]
            expect(bool(found) != never, f"{name}: expected {'no' if never else 'a'} line with {pattern}, found "
                                         f"{found or lines}")

    def rows(self, table):
        expect(self.tables, "expected a recording, found none")
        return self.tables[table]

    def paths(self, kind, function, *frames):
        """Rows of paths of that function that lead through these frames."""
        through = " < .*".join(map(re.escape, frames))
        return [row for row in self.rows("paths") if row["type"] == kind and row["function"] == function and
                re.search(rf"\b{through}\b", row["path"])]

    def claim_wait(self):
        found = self.paths("mutex", "pthread_mutex_lock", "IOThreadMain", "start_thread")
        expect(found and all(row["wait_ns"] and row["hold_ns"] for row in found),
               f"expected waits and holds of IOThreadMain, to the thread's start, found {found}")
        return " and ".join(f"{sum(row[key] for row in found) / 1e6:.1f} ms" for key in ("wait_ns", "hold_ns"))

    def claim_hold(self):
        found = [row for row in self.rows("locks") if "io_threads_mutex" in (row["name"] or "")]
        expect(len(found) >= 3, f"expected the mutexes of three I/O threads, found {[row['name'] for row in found]}")
        expect(all(row["hold_ns"] and row["wait_ns"] for row in found), "expected waits and holds of each")
        holders = {site["site"] for row in found for site in row["sites"]}
        expect({"stopThreadedIO", "IOThreadMain"} <= {re.sub(r"[+ ].*", "", h or "") for h in holders},
               f"expected the call sites stopThreadedIO and IOThreadMain, found {holders}")
        return f"{sum(row['hold_ns'] for row in found) / 1e9:.2f} s"

    def claim_blocking(self):
        found = self.paths("io", "fdatasync", "flushAppendOnlyFile", "beforeSleep", "aeMain", "main")
        expect(found, "expected fdatasync of flushAppendOnlyFile, to main, found none")
        return f"{sum(row['calls'] for row in found)} calls"

    def claim_cpu(self):
        """By thread; by call path where the capture has samples of code without -pg."""
        threads = self.rows("threads")
        io_threads = [t for t in threads if re.match(r"io_thd_[123]$", t["name"])]
        expect(len(io_threads) == 3, f"expected three I/O threads, found {[t['name'] for t in threads]}")
        if any(t["running_ns"] is None for t in threads):
            raise Skip("no scheduling events here")
        expect(all(t["running_ns"] > 0 for t in io_threads), "expected CPU time of each I/O thread")
        sampled = [node["path"] for node in self.rows("calltree") if node["cpu_ns"] and
                   not node["path"].startswith("[no call path]")]
        for wanted in ("start_thread > IOThreadMain", "main > aeMain"):
            expect(not sampled or any(wanted in path for path in sampled),
                   f"expected CPU time below {wanted}, found {sampled[:9]}")
        return f"{sum(t['running_ns'] for t in threads) / 1e9:.2f} s"

    def claim_lossless(self):
        lost = [p for p in self.rows("quality") if "lost" in p["what"] or "discarded" in p["what"]]
        expect(not lost, f"expected no losses, found {lost[:3]}")


def main():
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CPUS])
    profile, claims = Profile(*map(os.path.abspath, sys.argv[1:3])), Claims("redis")
    claims.check("values byte for byte, the same exit status; ten lines at most", profile.record)
    claims.check("first lines: I/O threads wait for their mutexes, which main holds while it needs none of them", lambda:
                 profile.read(r"io_threads_mutex.* mostly at IOThreadMain, held since "
                              r"(init|stop)ThreadedIO"))
    claims.check("first lines: threads for background jobs are idle", lambda:
                 profile.read(r"idle .* for work.*longest .* for cond at bioInit, mostly at bioProcessBackgroundJobs"))
    claims.check("first lines: that holds nothing back", lambda:
                 profile.read("waited.*(bioInit|bioProcessBackgroundJobs)", never=True))
    claims.check("wait and hold by call path", profile.claim_wait)
    claims.check("hold by call site", profile.claim_hold)
    claims.check("blocking call by call path", profile.claim_blocking)
    claims.check("CPU time", profile.claim_cpu)
    claims.check("nothing lost", profile.claim_lossless)
    return claims.close()


if __name__ == "__main__":
    sys.exit(main())
