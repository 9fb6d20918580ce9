#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""streams.py GPROF_MT SMALL LARGE: how `history` reads two captures, the second ten times as large"""
import json
import os
import resource
import signal
import subprocess
import sys
import time

gprof_mt, small, large = sys.argv[1:]


def size_of(capture):
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(capture) for name in names)


def start(capture, *options):
    return subprocess.Popen([gprof_mt, "history", "-i", capture, *options], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def bytes_read(process):
    with open(f"/proc/{process.pid}/io") as file:
        return int(file.readline().split()[1])


def peak(capture, *options):
    """Bytes of memory, of a process of its own, since children's maxima are not told apart."""
    pid = os.fork()
    if pid:
        assert os.waitpid(pid, 0)[1] == 0, "history failed"
        return int(open("peak").read())
    with open("/dev/null", "w") as null:
        status = subprocess.call([gprof_mt, "history", "-i", capture, *options], stdout=null)
    with open("peak", "w") as file:
        file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024))
    os._exit(status)


# The first line, before a tenth of the capture is read: the output blocks once the pipe is full.
for options in ((), ("--format", "csv", "--order", "time"), ("--format", "json", "--order", "time"),
                ("--object", "counter")):
    process = start(large, *options)
    first = process.stdout.readline()
    done = bytes_read(process)
    assert first, options
    assert done < size_of(large) / 10, (options, done, size_of(large))
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

# Memory.
for options in ((), ("--format", "csv"), ("--format", "json"), ("--order", "object")):
    sizes = [peak(capture, *options) for capture in (small, large)]
    print(options, *(f"{size >> 10} KiB" for size in sizes))
    assert sizes[1] < sizes[0] + (4 << 20), (options, sizes)


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
