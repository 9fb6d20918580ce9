#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/memcached.py BUILD DIR

Profiles memcached, built in DIR by tests/apps/build, with four threads, while clients on loopback set and
get values and compare every byte.  The report must show its locks with their source lines.  The last line
is "N passed, N failed, N skipped"."""
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from ways import Claims, Skip, expect

CLIENTS, ROUNDS, KEYS = 4, 1500, 64
DEADLINE_S = 120


class Client(threading.Thread):
    """Sets and gets keys that no other client uses, so that it knows the expected values."""

    def __init__(self, port, number):
        super().__init__()
        self.random = random.Random(number)
        self.number, self.values, self.checked, self.error = number, {}, 0, None
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S)
        self.file = self.socket.makefile("rb")

    def set(self, key):
        value = self.random.randbytes(self.random.choice((0, 10, 1000, 20000)))
        self.socket.sendall(b"set %s 7 0 %d\r\n%s\r\n" % (key, len(value), value))
        answer = self.file.readline()
        expect(answer == b"STORED\r\n", f"set: expected STORED, got {answer!r}")
        self.values[key] = value

    def get(self, keys):
        self.socket.sendall(b"get %s\r\n" % b" ".join(keys))
        found = {}
        while (line := self.file.readline()) != b"END\r\n":
            word, key, flags, length = line.split()
            expect(word == b"VALUE" and flags == b"7", f"get: expected VALUE with flags 7, got {line!r}")
            found[key] = self.file.read(int(length) + 2)[:-2]
        expect(found == {k: self.values[k] for k in keys if k in self.values},
               "get: expected the values that were set, got others")
        self.checked += len(found)

    def run(self):
        try:
            for _ in range(ROUNDS):
                names = [b"%d.%d" % (self.number, self.random.randrange(KEYS)) for _ in range(4)]
                self.set(names[0])
                self.get(sorted(set(names)))
        except Exception as error:  # the claim reports it
            self.error = error
        self.socket.close()


class Append(threading.Thread):
    """Appends to the value of a key."""

    def __init__(self, port, key, times):
        super().__init__()
        self.socket, self.answers = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S), []
        self.key, self.times = key, times

    def run(self):
        self.socket.sendall(b"append %s 0 0 1\r\nx\r\n" % self.key * self.times)
        file = self.socket.makefile("rb")
        self.answers = [file.readline() for _ in range(self.times)]
        self.socket.close()


def append(port, keys, value_bytes, times):
    """Sets each key to a value of that size, and appends to it that many times, each in a connection of its own; a
    key may occur more than once."""
    for key in set(keys):
        with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S) as setter:
            setter.sendall(b"set %s 0 0 %d\r\n%s\r\n" % (key, value_bytes, b"v" * value_bytes))
            expect(setter.recv(100) == b"STORED\r\n", "set: expected STORED")
    clients = [Append(port, key, times) for key in keys]
    for client in clients:
        client.start()
    for client in clients:
        client.join(DEADLINE_S)
        expect(set(client.answers) == {b"STORED\r\n"}, f"append: expected STORED, got {client.answers[-3:]}")


class Server:
    """One server process: started, loaded, and ended by SIGTERM."""

    def __init__(self, prefix, program, directory, *more):
        os.makedirs(directory)
        self.ports = os.path.join(directory, "ports")
        env = dict(os.environ, MEMCACHED_PORT_FILENAME=self.ports)
        env.pop("LD_PRELOAD", None)
        user = ["-u", "root"] if os.geteuid() == 0 else []
        self.process = subprocess.Popen(
            prefix + [program, "-t", "4", "-p", "-1", "-l", "127.0.0.1", "-m", "64", *more] + user,
            cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)

    def port(self):
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end and self.process.poll() is None:
            if os.path.exists(self.ports):
                with open(self.ports, encoding="ascii") as file:
                    if found := re.search(r"TCP INET: (\d+)\n", file.read()):
                        return int(found[1])
            time.sleep(0.02)
        raise AssertionError(f"expected the server to listen within {DEADLINE_S} s, found no port in {self.ports}")

    def load(self):
        port = self.port()
        clients = [Client(port, n) for n in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(DEADLINE_S)
        for client in clients:
            if client.error:
                raise client.error
        return sum(client.checked for client in clients)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=DEADLINE_S)
        return self.process.returncode, out.decode()

    def kill(self):
        """Ends it if it still runs, as after a failure."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def expect_loopback():
    try:
        socket.create_server(("127.0.0.1", 0)).close()
    except OSError as error:
        raise Skip(f"no loopback here: {error}") from None


def serve(prefix, program, directory):
    server = Server(prefix, program, directory)
    try:
        checked = server.load()
        return checked, *server.end()
    finally:
        server.kill()


class Profile:
    def __init__(self, build, directory):
        self.gprof_mt = os.path.join(build, "gprof-mt")
        self.program = os.path.join(directory, "glibc/memcached")
        self.source = os.path.join(directory, "source/thread.c")
        self.directory = os.path.join(directory, "run")
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        self.capture = os.path.join(self.directory, "capture")
        self.sections = {}

    def record(self):
        expect_loopback()
        plain = serve([], self.program, os.path.join(self.directory, "plain"))
        ours = serve([self.gprof_mt, "record", "-q", "-o", self.capture, "--profile", "full-sched", "--set",
                      "sync.mode=all", "--"], self.program, os.path.join(self.directory, "profiled"))
        expect(plain == ours, f"expected (values, exit status, output) {plain}, got {ours}")
        return f"{ours[0]} values compared, exit status {ours[1]}"

    def rows(self, section):
        if not self.sections:
            done = subprocess.run([self.gprof_mt, "report", "-i", self.capture, "--format", "json",
                                   "locks", "threads", "callgraph", "quality"], capture_output=True, text=True)
            expect(done.returncode == 0, f"report: expected exit status 0, got {done.returncode}: {done.stderr[-500:]}")
            self.sections = json.loads(done.stdout)
        return self.sections[section]

    def claim_lock(self, name, line):
        """Finds the lock by the name of its variable or by the line that initialized it."""
        with open(self.source, encoding="utf-8") as file:
            lines = [n for n, text in enumerate(file, 1) if line in text]
        places = [name] if name else [f"thread.c:{n})" for n in lines]
        expect(lines and places, f"thread.c: expected the line {line}, found none")
        found = [lock for lock in self.rows("locks") if lock["type"] == "mutex" and
                 any(place in lock["name"] for place in places) and lock["acquired"]]
        expect(found, f"expected a lock named by {places}, found " +
               str(sorted({lock["name"] for lock in self.rows("locks")})[:20]))
        for lock in found:
            expect(any(re.search(r"\.c:\d+\)$", site["site"] or "") for site in lock["sites"]),
                   f"{lock['name']}: expected a source line for each call site, found {lock['sites']}")
        return f"{len(found)} of them, acquired {sum(lock['acquired'] for lock in found)} times"

    def claim_calls(self):
        """One function is called once for each command."""
        calls = {}
        for arc in self.rows("arcs"):
            calls[arc["to"]] = calls.get(arc["to"], 0) + arc["calls"]
        for function, wanted in (("process_command_ascii", 2 * CLIENTS * ROUNDS),
                                 ("process_update_command", CLIENTS * ROUNDS)):
            found = [n for name, n in calls.items() if name.split(".")[0] == function]
            if not found:
                continue  # inlined by this compiler
            # A function that the compiler has split has two entries.
            expect(all(n == wanted for n in found), f"{function}: expected {wanted} calls, found {found}")
            return f"{function}: {wanted}"
        raise AssertionError("expected one of the two functions in the call graph, found neither")

    def claim_threads(self):
        workers = [t for t in self.rows("threads") if t["name"] == "mc-worker"]
        expect(len(workers) == 4, f"expected 4 workers, found {len(workers)}")
        for t in workers:
            parts = sum(t[k] for k in ("running_ns", "runnable_ns", "blocked_sync_ns", "blocked_io_ns",
                                       "blocked_other_ns", "unknown_ns"))
            expect(abs(parts - t["lifetime_ns"]) <= t["lifetime_ns"] / 100,
                   f"thread {t['tid']}: expected parts that add up to {t['lifetime_ns']} ns, found {parts} ns")

    def claim_lossless(self):
        lost = [p for p in self.rows("quality") if "lost" in p["what"] or "discarded" in p["what"]]
        expect(not lost, f"expected no losses, found {lost[:3]}")


def main():
    profile, claims = Profile(*map(os.path.abspath, sys.argv[1:3])), Claims("memcached")
    claims.check("sets and gets, byte for byte; the same exit status and output", profile.record)
    claims.check("item locks, by the line that initializes them",
                 lambda: profile.claim_lock(None, "pthread_mutex_init(&item_locks[i]"))
    claims.check("LRU locks, by name", lambda: profile.claim_lock("lru_locks", "lru_locks[POWER_LARGEST]"))
    claims.check("locks of the connection queues, by the line that initializes them",
                 lambda: profile.claim_lock(None, "pthread_mutex_init(&cq->lock"))
    claims.check("one call for each command sent", profile.claim_calls)
    claims.check("the four workers, and their times", profile.claim_threads)
    claims.check("nothing lost", profile.claim_lossless)
    return claims.close()


if __name__ == "__main__":
    sys.exit(main())
