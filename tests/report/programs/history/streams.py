#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""streams.py GPROF_MT SMALL LARGE COUNTS_BYTES: how `history` reads two captures, the second ten times as large;
COUNTS_BYTES is 0 if its process reads bytes of other files, too"""
import json
import os
import signal
import subprocess
import sys
import time

gprof_mt, small, large = sys.argv[1:4]
counts_bytes = sys.argv[4] == "1"


def size_of(capture):
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(capture) for name in names)


def start(capture, *options):
    return subprocess.Popen([gprof_mt, "history", "-i", capture, *options], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def bytes_read(process):
    with open(f"/proc/{process.pid}/io") as file:
        return int(file.readline().split()[1])


# The first line, before a tenth of the capture is read: the output blocks once the pipe is full.
for options in ((), ("--format", "csv", "--order", "time"), ("--format", "json", "--order", "time"),
                ("--object", "counter")):
    process = start(large, *options)
    first = process.stdout.readline()
    done = bytes_read(process)
    assert first, options
    assert not counts_bytes or done < size_of(large) / 10, (options, done, size_of(large))
    process.stdout.close()
    assert process.wait() == -signal.SIGPIPE, (options, process.returncode)
    assert process.stderr.read() == b"", options

# A signal, while it waits for a reader of its output, and while it reads the capture.
for number in signal.SIGTERM, signal.SIGINT:
    process = start(large)
    process.stdout.readline()
    process.send_signal(number)
    assert process.wait() == -number, process.returncode
    process.stdout.close()
    process = start(large, "--format", "json")
    while bytes_read(process) < size_of(large) / 20:
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(number)
    assert process.wait() == -number, process.returncode
    process.stdout.close()


# The same operations in both orders.
def document(order):
    return json.loads(subprocess.check_output([gprof_mt, "history", "-i", small, "--format", "json", "--order", order]))


by_object = document("object")["objects"]
by_time = document("time")["operations"]
assert len(by_object) == 11, by_object
flat = [{**{key: o[key] for key in o if key != "ops"}, **op} for o in by_object for op in o["ops"]]
assert [op["time_ns"] for op in by_time] == sorted(op["time_ns"] for op in flat)
key = lambda op: (op["generation"], op["object"])
assert sorted(by_time, key=key) == sorted(flat, key=key), "the operations differ"
lines = subprocess.check_output([gprof_mt, "history", "-i", small]).decode().splitlines()
assert len(lines) == len(by_time) + 3, len(lines)
