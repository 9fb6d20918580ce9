# SPDX-License-Identifier: MIT
"""schedules.py good|SEED FILE: writes a schedule (libsync-trace/include/sync-trace/schedule.h) for `one_lock`.

It has two threads, which acquire one mutex in turn, 4 times each; with a seed, it is damaged in a random way."""
import os
import random
import struct
import sys

HEADER, THREAD, OP, SITE, MODULE = "<8sIIQIIIIQQ40x", "<IIQQII", "<IIIBBH", "<IIQ", "<112s"
PAGE, NONE = 4096, 0xffffffff


def schedule(n_events, mutex_lock):
    ops = []
    for thread in range(2):
        for k in range(4):
            ops.append(struct.pack(OP, 0, 2 * k + thread, NONE, mutex_lock, 0, 0))
    threads = struct.pack(THREAD, NONE, 0, 0, 4, 1, 0) + struct.pack(THREAD, 0, 0, 4, 4, 1, 0)
    tail = threads + b"".join(ops) + struct.pack(SITE, 0, 0, 0x1234) + struct.pack(MODULE, b"one_lock")
    header = struct.pack(HEADER, b"GMTSCHED", 1, n_events, PAGE + len(tail), 2, 1, 1, 1, 8, 50_000_000)
    return bytearray(header.ljust(PAGE, b"\0") + tail)


def damage(data, seed):
    draw = random.Random(seed)
    for _ in range(draw.choice([1, 1, 2, 5, 50])):
        # mostly where the numbers are; patience_ns, at 48, may be long without being wrong
        at = draw.choice([draw.randrange(8, 48), draw.randrange(PAGE, len(data)), draw.randrange(56, len(data))])
        data[at] = draw.choice([0, 1, 0x7f, 0xff, draw.randrange(256)])
    if draw.random() < 0.2:
        del data[draw.randrange(len(data)):]
    elif draw.random() < 0.1:
        data += bytes(draw.randrange(1, 9000))


numbers = dict(line.split() for line in sys.stdin)
data = schedule(int(numbers["n_events"]), int(numbers["mutex_lock"]))
if sys.argv[1] != "good":
    damage(data, int(sys.argv[1]))
with open(os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
    file.write(data)
