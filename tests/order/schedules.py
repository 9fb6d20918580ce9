# SPDX-License-Identifier: MIT
"""schedules.py good|first:THREAD|SEED FILE: writes a schedule (libsync-trace/include/sync-trace/schedule.h) for
`one_lock`.

It has two threads, which acquire one mutex in turn, 4 times each. With first:THREAD it ends after three turns with a
pair, of which that thread is first. With a seed, one of these is damaged in a random way."""
import os
import random
import struct
import sys

HEADER, THREAD, OP, SITE, MODULE = "<8sIIQIIIIQQ40x6I", "<IIQQII", "<IIIBBH", "<IIQ", "<112s"
LINE = "<QQII"
PAGE, NONE = 4096, 0xffffffff


def schedule(n_events, mutex_lock, first=None):
    n_ops = (4, 4) if first is None else (3, 2)
    ops = b"".join(struct.pack(OP, 0, 2 * k + thread, NONE, mutex_lock, 0, 0)
                   for thread in range(2) for k in range(n_ops[thread]))
    ended = int(first is None)
    threads = struct.pack(THREAD, NONE, 0, 0, n_ops[0], ended, 0) + struct.pack(THREAD, 0, 0, n_ops[0], n_ops[1], ended, 0)
    # One line that cannot be read, and one of a module of which no call site is known.
    lines = b"" if first is None else struct.pack(LINE, 0, 255, NONE, NONE) + struct.pack(LINE, 64, 1, 0, 0)
    pair = (0, 0, 0, 0, 0, 0) if first is None else (1, first, 1 - first, 3, 2, 0)
    tail = threads + ops + struct.pack(SITE, 0, 0, 0x1234) + struct.pack(MODULE, b"one_lock") + lines
    header = struct.pack(HEADER, b"GMTSCHED", 2, n_events, PAGE + len(tail), 2, 1, 1, 1, sum(n_ops), 50_000_000, *pair)
    return bytearray(header.ljust(PAGE, b"\0") + tail)


def damage(data, seed):
    draw = random.Random(seed)
    for _ in range(draw.choice([1, 1, 2, 5, 50])):
        # mostly where the numbers are; patience_ns, at 48, may be long without being wrong
        at = draw.choice([draw.randrange(8, 48), draw.randrange(96, 120), draw.randrange(PAGE, len(data)),
                          draw.randrange(56, len(data))])
        data[at] = draw.choice([0, 1, 0x7f, 0xff, draw.randrange(256)])
    if draw.random() < 0.2:
        del data[draw.randrange(len(data)):]
    elif draw.random() < 0.1:
        data += bytes(draw.randrange(1, 9000))


numbers = dict(line.split() for line in sys.stdin)
kind = sys.argv[1]
is_damaged = kind.isdigit()
first = int(kind.split(":")[1]) if kind.startswith("first:") else None
if is_damaged:
    first = (None, 0, 1)[int(kind) % 3]
data = schedule(int(numbers["n_events"]), int(numbers["mutex_lock"]), first)
if is_damaged:
    damage(data, int(kind))
with open(os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
    file.write(data)
